"""Fine-tuning of openpi's pi0 and pi0.5 on RuleSafe: data transforms and training configurations.

This package runs in openpi's environment and does not import RuleSafe; `configs` imports openpi,
`transforms` only numpy. The page "Fine-tune pi0 on RuleSafe" (docs/fine_tune_pi0.md) describes its
use.
"""
