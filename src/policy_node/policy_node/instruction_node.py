"""A node that publishes the description of a rule on /instruction, for policies on a real robot."""

import sys
from dataclasses import dataclass
from functools import partial

from rclpy.node import Node
from std_msgs.msg import String

from rulesafe_core.convert import LATCHED_QOS
from rulesafe_core.ros import declare, reserve_topic, run_node
from rulesafe_core.settings import Settings, setting
from rulesafe_locks.rules import load_rule


@dataclass(frozen=True)
class InstructionParameters(Settings):
    """Parameters of the instruction node."""

    rule: str = setting("rule_001", "Rule: an id or the path of a lock's .json file.")
    instruction: str = setting("", "Custom instruction; empty: the description of the rule.")


class InstructionNode(Node):
    """Publishes the instruction once; the topic is latched (transient local)."""

    def __init__(self) -> None:
        super().__init__("instruction_node")
        self._reservation = reserve_topic(self, "instruction")
        values = declare(self, InstructionParameters)
        text = values.instruction or load_rule(values.rule).description
        self._instruction = self.create_publisher(String, "instruction", LATCHED_QOS)
        self._instruction.publish(String(data=text))


main = partial(run_node, "instruction_node", InstructionNode)

if __name__ == "__main__":
    sys.exit(main())
