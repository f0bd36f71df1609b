"""Baselines of RuleSafe-Moves-v1, locks without a robot (docs/results/moves.md)."""
