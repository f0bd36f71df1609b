"""Tests of `rulesafe topic` and the discovery of a graph, without a graph."""

from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from rulesafe_core.errors import RuleSafeError
from rulesafe_ros.graph import topic


@pytest.mark.parametrize("command", [topic.echo, topic.hz])
def test_the_duration_begins_when_the_command_has_joined_the_graph(monkeypatch, command):
    """Before that, it imports ROS 2, which takes seconds on a busy machine."""
    pytest.importorskip("rclpy", reason="ROS 2 is not installed")
    now = 0.0

    class Client:
        def find(self, name, ended, report):
            nonlocal now
            now += 14.9
            assert not ended()
            now += 0.2
            assert ended()
            raise RuleSafeError("no publisher")

    @contextmanager
    def connected():
        nonlocal now
        now += 60.0
        yield Client()

    monkeypatch.setattr(topic, "time", SimpleNamespace(monotonic=lambda: now))
    monkeypatch.setattr(topic.command, "connected", connected)
    with pytest.raises(RuleSafeError, match="no publisher"):
        command("/tokens", seconds=15.0)


@pytest.mark.parametrize(
    ("discovered", "expected", "report"),
    [
        ((0.5, 1.6, 4.7), ["node_0", "node_1", "node_2"], ""),  # one announcement is lost
        (
            range(0, 60, 2),
            [f"node_{number}" for number in range(8)],
            "incomplete list: the graph still",
        ),
    ],
)
def test_discovery_waits_for_repeated_announcements(
    monkeypatch, capsys, discovered, expected, report
):
    """Nodes are discovered at these times, s; Fast DDS repeats lost announcements after 3 s."""
    pytest.importorskip("rclpy", reason="ROS 2 is not installed")
    from rulesafe_ros.graph import client_node

    now = 0.0

    class Client:
        def get_node_names(self):
            return [f"node_{number}" for number, time in enumerate(discovered) if time <= now]

        topic_infos = service_types = get_node_names

        def spin_until(self, condition, timeout):
            nonlocal now
            while not (done := condition()) and now < timeout:
                now += 0.1
            return done

    monkeypatch.setattr(client_node, "time", SimpleNamespace(monotonic=lambda: now))
    client = Client()
    client_node.GraphClient.wait_for_discovery(client, client.get_node_names)
    assert client.get_node_names() == expected
    assert capsys.readouterr().err.partition(" changes")[0] == report
