"""Generate locks: run programs in a sandbox, compile them to automata, verify them.

See docs/lock_design.md.
"""
