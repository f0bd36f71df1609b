"""The rulesafe rules command (docs/lock_design.md)."""
