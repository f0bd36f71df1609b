"""The command `rulesafe rules` (docs/lock_design.md)."""
