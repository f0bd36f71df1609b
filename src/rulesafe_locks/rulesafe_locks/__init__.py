"""Locks: rules, shortest plans, automata, proofs, scores, files and sets."""
