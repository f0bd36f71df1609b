"""RuleSafe as a benchmark of vla-eval (docs/integrations.md)."""
