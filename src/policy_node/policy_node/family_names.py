"""Families that are not the package's: what is said where nothing has made them known yet."""

from policy_node.families import FAMILIES
from rulesafe_core.errors import unknown_name

LOADED = "module:name that loads its checkpoint"
"""How a checkpoint of a family of one's own is named."""


def check_family(name: str, own: str = LOADED) -> None:
    """Errors: RuleSafeError for a family that is not known; `own`: how one's own is reached."""
    if name not in FAMILIES:
        told = f"or of your own: {own} (docs/tutorials/add_a_policy.md)"
        raise unknown_name("policy", name, (*FAMILIES, told))
