"""`rulesafe teleop`: the keyboard moves the right hand."""

from rulesafe_core.errors import RuleSafeError


def teleop(patience: float = 60.0) -> None:
    """Move the right hand with the keyboard, in a graph with teleop_node.

    The keys are printed at the start and with h; x quits. Works in each terminal, also over ssh.
    When the command ends, the arm holds its position.

    Example: rulesafe teleop

    Args:
        patience: Time to wait for teleop_node, s.
    """
    from rulesafe_core.client_node import connected
    from rulesafe_core.terminal_keys import in_foreground, key_actions
    from teleop_node.keyboard_node import KeyboardNode, operate
    from teleop_node.keys import KEYS

    if not in_foreground():
        raise RuleSafeError("rulesafe teleop reads keys: run it in a terminal, in the foreground")
    with connected(KeyboardNode) as node, key_actions(KEYS) as next_key:
        operate(node, next_key, patience)
