"""How this package's nodes are started."""

from rulesafe_start import starter

evaluator_node = starter("rulesafe_eval.node")
robot_side_node = starter("rulesafe_eval.robot_side.node")
instruction_node = starter("rulesafe_eval.bridge.instruction_node")
