"""Gymnasium environments of complete moves (docs/gymnasium.md) and baselines of RuleSafe-Moves-v1,
the locks without a robot (docs/results/moves.md)."""
