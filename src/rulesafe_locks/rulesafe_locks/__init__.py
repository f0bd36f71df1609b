"""Locks: rules, shortest plans, automata, proofs, scores, lock files and sets of them."""
