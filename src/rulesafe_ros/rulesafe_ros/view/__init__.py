"""The live view: a web page (docs/ros.md)."""
