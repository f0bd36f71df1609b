"""Lock design: programs run in a sandbox, compiled to automata, proved (docs/lock_design.md)."""
