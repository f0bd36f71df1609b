"""Commands that inspect a running graph: topics, services and parameters."""
