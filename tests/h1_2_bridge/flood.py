"""Flood services with requests and leave without waiting for the responses.

python flood.py SECONDS
"""

import sys
import time

from rcl_interfaces.srv import ListParameters
from std_srvs.srv import Trigger

from rulesafe_core.client_node import ClientNode, connected

BURST = 50
"""Requests between two pauses of 20 ms."""


def flood(node: ClientNode, seconds: float) -> int:
    """Send requests for `seconds`, and return their number."""
    clients = [
        (node.create_client(Trigger, "/bridge/engage"), Trigger.Request()),
        (
            node.create_client(ListParameters, "/h1_2_bridge/list_parameters"),
            ListParameters.Request(),
        ),
    ]
    assert all(client.wait_for_service(60) for client, _ in clients)
    end, count = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        for client, request in clients:
            for _ in range(BURST):
                client.call_async(request)
                count += 1
        time.sleep(0.02)
    return count


if __name__ == "__main__":
    with connected(lambda: ClientNode("flood")) as node:
        print(flood(node, float(sys.argv[1])))
