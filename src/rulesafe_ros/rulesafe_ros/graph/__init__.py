"""Topics, services and parameters of a running graph."""
