"""The live view: a web page and a Foxglove server (docs/view.md)."""
