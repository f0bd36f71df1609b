"""Tests of `rulesafe topic` without a graph."""

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
