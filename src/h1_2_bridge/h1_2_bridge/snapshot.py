"""Data recorded for the checks from robot, bridge, hands and cameras; does not import ROS."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from h1_2_bridge.wire import LowState


@dataclass
class Arrivals:
    """Arrivals of messages on one topic.

    Attributes:
        times: arrival times by the steady clock, ns.
        ages: age of each stamp on arrival by the system clock, ns; empty for unstamped messages.
    """

    times: list[int] = field(default_factory=list)
    ages: list[int] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.times)

    @property
    def rate(self) -> float:
        """Messages per second between the first and the last; 0 for fewer than two."""
        if len(self.times) < 2:
            return 0.0
        return (len(self.times) - 1) * 1e9 / max(self.times[-1] - self.times[0], 1)

    @property
    def gap(self) -> float:
        """Longest time between two messages, s."""
        return float(np.diff(self.times).max()) / 1e9 if len(self.times) > 1 else float("inf")

    @property
    def age(self) -> float:
        """Median latency (time of reception minus stamp), s; NaN if the messages have no stamp."""
        return float(np.median(self.ages)) / 1e9 if self.ages else float("nan")


@dataclass(frozen=True)
class BridgeFacts:
    """Fields of /bridge/state that the checks use."""

    state: str
    reason: str
    output: str
    hand: str
    hand_trouble: str
    dry_run: bool


@dataclass
class RobotSnapshot:
    """Input of the checks.

    Attributes:
        states: decoded messages of /lowstate in order of arrival.
        lowstate: arrivals on /lowstate, including messages that could not be decoded.
        malformed: number of messages on /lowstate that could not be decoded.
        joints: the last /joint_states, rad by name.
        topics: arrivals by topic, of /joint_states, the hands and the cameras.
        bridge: the last /bridge/state; None if none was received.
        publishers: node name of each publisher, by topic, of commands and of the robot's state.
        nodes: names of all nodes.
        hand: q (n,) of the last /inspire/state; None if none was received.
        instruction: the last /instruction; None if none was received.
    """

    states: list[LowState] = field(default_factory=list)
    lowstate: Arrivals = field(default_factory=Arrivals)
    malformed: int = 0
    joints: dict[str, float] = field(default_factory=dict)
    topics: dict[str, Arrivals] = field(default_factory=dict)
    bridge: BridgeFacts | None = None
    publishers: dict[str, list[str]] = field(default_factory=dict)
    nodes: set[str] = field(default_factory=set)
    hand: NDArray[np.float32] | None = None
    instruction: str | None = None

    def arrivals(self, topic: str) -> Arrivals:
        """Return the arrivals on a topic; empty if no message was received."""
        return self.topics.get(topic, Arrivals())
