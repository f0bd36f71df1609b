"""Test DDS discovery between two processes: `publish TOPIC` and `subscribe TOPIC`.

`publish` runs until it is killed. `subscribe` exits with 0 when it receives a message, with 1 after
TIMEOUT.
"""

import sys
from functools import partial

from std_msgs.msg import String

from rulesafe_core.client_node import ClientNode, connected

TIMEOUT = 60.0
"""Timeout of the first message, s; sufficient on a busy machine."""


def main() -> int:
    role, topic = sys.argv[1:]
    received: list[String] = []
    with connected(partial(ClientNode, f"rulesafe_doctor_{role}")) as node:
        if role == "publish":
            publisher = node.create_publisher(String, topic, 1)
            node.create_timer(0.1, lambda: publisher.publish(String(data="hello")))
        else:
            node.create_subscription(String, topic, received.append, 1)
        node.spin_until(lambda: received, TIMEOUT)
    return 0 if received or role == "publish" else 1


if __name__ == "__main__":
    sys.exit(main())
