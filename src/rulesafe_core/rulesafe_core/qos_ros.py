"""Publishers that a node does not receive because of their quality of service."""

from rclpy.node import Node
from rclpy.qos import QoSCompatibility, qos_check_compatible

from rulesafe_core.ros import NAMES


class QosWatch:
    """Finds publishers whose QoS no subscription of a node matches.

    For nodes that execute subscriptions without an executor of rclpy, which handles QoS events: it
    logs incompatible endpoints, without their names.

    Args:
        node: the node.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._counts: dict[str, int] = {}  # publishers of each topic at the last call
        self._unchecked: set[str] = set()  # topics whose publishers have changed
        self._known: set[bytes] = set()  # GIDs of the publishers that were reported

    def check(self) -> list[str]:
        """Return a message for each new incompatible publisher. Call it once a second: a publisher
        is examined in the call after the one that finds it, since its name may follow later."""
        found = []
        for topic in {each.topic_name for each in self._node.subscriptions}:
            count = self._node.count_publishers(topic)
            if count != self._counts.get(topic):
                self._counts[topic] = count
                self._unchecked.add(topic)
            elif topic in self._unchecked:
                self._unchecked.remove(topic)
                found += self._examine(topic)
        return found

    def _examine(self, topic: str) -> list[str]:
        requests = [s.qos_profile for s in self._node.subscriptions if s.topic_name == topic]
        found = []
        for info in self._node.get_publishers_info_by_topic(topic):
            offers = [qos_check_compatible(info.qos_profile, request) for request in requests]
            gid = bytes(info.endpoint_gid)
            if gid in self._known or any(c != QoSCompatibility.ERROR for c, _ in offers):
                continue
            self._known.add(gid)
            reason = offers[0][1].removeprefix("ERROR: ").strip("; ")
            name = NAMES.get(info.node_name, info.node_name)
            found.append(f"messages of {name} on {topic} are not received: {reason}")
        return found
