"""The live view: a web page (docs/view.md)."""
