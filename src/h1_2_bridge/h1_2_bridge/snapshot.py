"""What robot, bridge, hands and cameras published within some seconds. No ROS here."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from h1_2_bridge.wire import LowState


@dataclass
class Arrivals:
    """Messages of one topic: when they came (steady clock) and how old their stamps were then by
    the system's clock, ns. A topic without stamps has no ages."""

    times: list[int] = field(default_factory=list)
    ages: list[int] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.times)

    @property
    def rate(self) -> float:
        """Messages per second between the first and the last; 0 where there are not two."""
        if len(self.times) < 2:
            return 0.0
        return (len(self.times) - 1) * 1e9 / max(self.times[-1] - self.times[0], 1)

    @property
    def gap(self) -> float:
        """Longest time between two messages, s."""
        return float(np.diff(self.times).max()) / 1e9 if len(self.times) > 1 else float("inf")

    @property
    def age(self) -> float:
        """Median age of the stamps on arrival, s; NaN without stamps."""
        return float(np.median(self.ages)) / 1e9 if self.ages else float("nan")


@dataclass(frozen=True)
class BridgeFacts:
    """What /bridge/state says that a check needs."""

    state: str
    reason: str
    output: str
    hand: str
    hand_trouble: str
    dry_run: bool


@dataclass
class RobotSnapshot:
    """All that a check looks at.

    Attributes:
        states: low states that could be decoded, in the order in which they came.
        lowstate: their arrivals, those that could not be decoded too.
        malformed: states that could not be decoded.
        joints: the last /joint_states: rad by name.
        topics: arrivals by topic, of /joint_states, the hands and the cameras.
        bridge: the last /bridge/state, None where there was none.
        writers: names of the nodes that write to a topic.
        nodes: names of all nodes.
        hand: q (n,) of the last /inspire/state.
        instruction: what /instruction says, None where nobody does.
    """

    states: list[LowState] = field(default_factory=list)
    lowstate: Arrivals = field(default_factory=Arrivals)
    malformed: int = 0
    joints: dict[str, float] = field(default_factory=dict)
    topics: dict[str, Arrivals] = field(default_factory=dict)
    bridge: BridgeFacts | None = None
    writers: dict[str, list[str]] = field(default_factory=dict)
    nodes: set[str] = field(default_factory=set)
    hand: NDArray[np.float32] | None = None
    instruction: str | None = None

    def arrivals(self, topic: str) -> Arrivals:
        """Those of a topic; empty where nothing came."""
        return self.topics.get(topic, Arrivals())
