"""Evaluation of policies: agents, episodes, statistics, reports and the evaluator node."""
