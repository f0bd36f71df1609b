"""Gymnasium environments of complete moves (docs/moves.md) and baselines of RuleSafe-Moves-v1, the
locks without a robot (docs/results/moves.md)."""
