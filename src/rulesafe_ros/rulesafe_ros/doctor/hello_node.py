"""Two processes that find each other over DDS: `speak TOPIC` until it is ended, `listen TOPIC`.

`listen` ends with 0 as soon as it hears something, with 1 after PATIENCE.
"""

import sys
import time

import rclpy
from std_msgs.msg import String

PATIENCE = 20.0
"""s to wait for a word, on a machine that is busy."""


def main() -> int:
    what, topic = sys.argv[1:]
    rclpy.init()
    node = rclpy.create_node(f"rulesafe_doctor_{what}")
    heard: list[String] = []
    end = time.monotonic() + PATIENCE
    if what == "speak":
        publisher = node.create_publisher(String, topic, 1)
        node.create_timer(0.1, lambda: publisher.publish(String(data="hello")))
    else:
        node.create_subscription(String, topic, heard.append, 1)
    while not heard and time.monotonic() < end:
        rclpy.spin_once(node, timeout_sec=0.2)
    return 0 if heard or what == "speak" else 1


if __name__ == "__main__":
    sys.exit(main())
