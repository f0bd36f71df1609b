"""Wait for a recorder before an evaluation, so that its bag has the complete first episode."""

import time

from rclpy.client import Client
from rclpy.executors import Executor
from rclpy.node import Node

RECORDED_TOPICS = ("/joint_states", "/policy/action_chunk")
"""Topics to which the recorder must subscribe."""

DISCOVERY_DELAY = 4.0
"""Wall time (s) for the recorder to discover further topics, and for their publishers to discover
the recorder after this node has; messages that they publish before are not in its bag. If the first
announcements of a node are lost, Fast DDS repeats them after 3 s."""

TIMEOUT = 60.0
"""Wall time (s) after which the evaluation begins anyway."""


def wait_for_recorder(node: Node, reset: Client, executor: Executor) -> None:
    """Wait until the simulation is ready, and a recorder has subscribed to RECORDED_TOPICS and, for
    DISCOVERY_DELAY, to no further topic; log a warning after TIMEOUT.

    Args:
        node: the evaluator.
        reset: its client of /episode/reset.
        executor: its executor, which spins meanwhile.
    """
    recorded: set[str] = set()
    now = changed = time.monotonic()
    end = now + TIMEOUT
    while now - changed < DISCOVERY_DELAY:
        executor.spin_once(timeout_sec=0.1)
        before, recorded, now = recorded, _recorded_topics(node), time.monotonic()
        if not reset.service_is_ready():
            missing = "there is no service /episode/reset"
        elif not recorded.issuperset(RECORDED_TOPICS):
            missing = f"no recorder has subscribed to {' and '.join(RECORDED_TOPICS)}"
        elif recorded != before:
            missing = "a recorder has subscribed to further topics"
        else:
            continue
        changed = now
        if now > end:
            node.get_logger().warning(
                f"{missing} after {TIMEOUT:g} s; starting the episodes, whose first messages a bag "
                "may lack"
            )
            return


def _recorded_topics(node: Node) -> set[str]:
    return {
        topic
        for topic, _ in node.get_topic_names_and_types()
        for subscription in node.get_subscriptions_info_by_topic(topic)
        if subscription.node_name.endswith("recorder")
    }
