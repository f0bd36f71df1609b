"""Two processes that discover each other over DDS: `speak TOPIC` until killed, `listen TOPIC`.

`listen` ends with 0 as soon as it receives a message, with 1 after TIMEOUT.
"""

import sys
from functools import partial

from std_msgs.msg import String

from rulesafe_core.client_node import ClientNode, connected

TIMEOUT = 20.0
"""s to wait for a message, on a machine that is busy."""


def main() -> int:
    role, topic = sys.argv[1:]
    received: list[String] = []
    with connected(partial(ClientNode, f"rulesafe_doctor_{role}")) as node:
        if role == "speak":
            publisher = node.create_publisher(String, topic, 1)
            node.create_timer(0.1, lambda: publisher.publish(String(data="hello")))
        else:
            node.create_subscription(String, topic, received.append, 1)
        node.spin_until(lambda: received, TIMEOUT)
    return 0 if received or role == "speak" else 1


if __name__ == "__main__":
    sys.exit(main())
