"""Tells a policy beside a real robot what to do: a rule's words on /instruction, latched."""

import sys
from collections.abc import Sequence

from rclpy.node import Node
from std_msgs.msg import String

from rulesafe_core.convert import LATCHED_QOS
from rulesafe_core.ros import Parameter, claim, declare, run_node, serve
from rulesafe_locks.rules import load_rule

PARAMETERS = (
    Parameter("rule", "rule_001", "Rule whose words are told: an id or the path of a lock's file."),
    Parameter("instruction", "", "Words of your own; empty: the rule's."),
)


class InstructionNode(Node):
    """Says it once; who comes later hears it too."""

    def __init__(self) -> None:
        super().__init__("instruction_node")
        self._claim = claim(self, "/instruction")
        values = declare(self, PARAMETERS)
        text = values["instruction"] or load_rule(values["rule"]).description
        self._told = self.create_publisher(String, "/instruction", LATCHED_QOS)
        self._told.publish(String(data=text))


def main(args: Sequence[str] | None = None) -> int:
    """Runs the node; the exit code."""
    return run_node("instruction_node", InstructionNode, serve, args)


if __name__ == "__main__":
    sys.exit(main())
