"""The episodes of a bag: when they were, and what the robot's joints did, frame by frame.

An episode begins at a stamp that /episode/started tells, or, in a bag without that topic, with the
first joint states and after each gap in them. Frames are the multiples of 0.1 s of the stamps'
clock from there on, as memory and policy have them. Between two joint states a frame is
interpolated; in simulation each has one of its own. No ROS here.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.chunks import PERIOD, SECOND, Chunk
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS, ALL_JOINTS
from rulesafe_core.robot import HELD
from rulesafe_data.bags.decoding import Decoder
from rulesafe_data.bags.reading import Bag, Message
from rulesafe_ros.bag import messages

JOINTS, STARTED, STATUS = "/joint_states", "/episode/started", "/episode/status"
CHUNKS, INSTRUCTION, BRIDGE = "/policy/action_chunk", "/instruction", "/bridge/state"
TOKENS = "/memory/tokens"

SOON = SECOND // 20
"""ns after its first joint states at which an episode's instruction may still come."""

MAX_GAP = SECOND // 2
"""ns without joint states that end an episode."""

NEAR = 2 * SECOND
"""ns by which what belongs to an episode may be recorded before or after its joint states."""


@dataclass
class Sample:
    """Joint states: stamp, when they were sent and recorded, ns; positions, velocities (39,)."""

    stamp: int
    published: int
    when: int
    positions: NDArray[np.float64]
    velocities: NDArray[np.float64]


@dataclass
class Episode:
    """One episode of a bag.

    Attributes:
        start: stamp of its first frame, ns.
        frames: how many have joint states, one after another.
        positions, velocities: (frames, 39) float32, rad and rad/s, order of ALL_JOINTS.
        joint_names: of the joint states; other joints stand as the robot holds them.
        clock: (when sent, stamp) of the joint states, in order: what the time was.
        chunks: with the time (ns of the stamps' clock) at which each was there.
        commands: /bridge/state's commands by stamp, up to the last while it was ACTIVE.
        statuses: by stamp, the last of each.
        instruction: "" where there was none.
        tokens: by stamp.
        recorded: from when to when its joint states were recorded, ns.
    """

    start: int
    frames: int = 0
    positions: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 39), np.float32))
    velocities: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 39), np.float32))
    joint_names: tuple[str, ...] = ()
    clock: list[tuple[int, int]] = field(default_factory=list)
    chunks: list[tuple[int, Chunk]] = field(default_factory=list)
    commands: dict[int, NDArray[np.float64]] = field(default_factory=dict)
    statuses: dict[int, Any] = field(default_factory=dict)
    instruction: str = ""
    tokens: dict[int, Any] = field(default_factory=dict)
    recorded: tuple[int, int] = (0, 0)

    def stamp(self, frame: int) -> int:
        """Stamp of a frame, ns."""
        return self.start + frame * PERIOD

    def acted(self) -> "Episode":
        """The episode from the observation on that the first chunk rests on: before, whoever acts
        was still at work on it. Without chunks the whole."""
        stamps = [chunk.stamp for _, chunk in self.chunks]
        idle = max((min(stamps) - self.start) // PERIOD, 0) if stamps else 0
        return replace(
            self,
            start=self.stamp(idle),
            frames=self.frames - idle,
            positions=self.positions[idle:],
            velocities=self.velocities[idle:],
        )

    @property
    def end(self) -> int:
        """Stamp of the last frame, ns."""
        return self.stamp(self.frames - 1)


@dataclass
class _Said:
    """What else was said: stamp, when it was sent and recorded, ns."""

    stamp: int
    published: int
    when: int
    what: Any


class _Reader:
    """Goes through a bag once and keeps what is small."""

    def __init__(self, bag: Bag, said: Callable[[str], None]):
        self._bag, self._decode, self._tell = bag, Decoder(bag), said
        self.samples: list[Sample] = []
        self.starts: list[int] = []
        self.said: dict[str, list[_Said]] = {}
        self.names: tuple[str, ...] = ()
        self.complaints: dict[str, int] = {}

    def read(self) -> None:
        takers: dict[str, Callable[[Message, Any], None]] = {
            JOINTS: self._joints,
            STARTED: self._started,
            INSTRUCTION: lambda message, decoded: self._note(message, 0, decoded.data),
            CHUNKS: lambda message, decoded: self._note(message, *_stamped_chunk(decoded)),
        }
        for topic in (STATUS, BRIDGE, TOKENS):
            takers[topic] = lambda message, decoded: self._note(
                message, messages.stamp(decoded.header.stamp), decoded
            )
        for message in self._bag.messages(list(takers)):
            try:
                takers[message.topic](message, self._decode(message))
            except RuleSafeError as error:
                self.complaints[str(error)] = self.complaints.get(str(error), 0) + 1
        for text, count in self.complaints.items():
            self._tell(f"left out {count} x: {text}")

    def _joints(self, message: Message, decoded: Any) -> None:
        names = tuple(decoded.name)
        if names != self.names:
            missing = [joint for joint in ACTION_JOINTS if joint not in names]
            if missing:
                raise RuleSafeError(f"joint states without {', '.join(missing)}")
            self.names = names
            self._columns = [
                (i, names.index(joint)) for i, joint in enumerate(ALL_JOINTS) if joint in names
            ]
        positions = np.array([HELD.get(joint, 0.0) for joint in ALL_JOINTS])
        velocities = np.zeros(len(ALL_JOINTS))
        for to, source in self._columns:
            positions[to] = decoded.position[source]
            if len(decoded.velocity):
                velocities[to] = decoded.velocity[source]
        if not np.isfinite(positions).all():
            raise RuleSafeError("joint states that are not finite")
        stamp = messages.stamp(decoded.header.stamp)
        self.samples.append(Sample(stamp, message.published, message.when, positions, velocities))

    def _started(self, message: Message, decoded: Any) -> None:
        stamp = messages.stamp(decoded)
        if stamp not in self.starts:
            self.starts.append(stamp)

    def _note(self, message: Message, stamp: int, what: Any) -> None:
        said = _Said(stamp, message.published, message.when, what)
        self.said.setdefault(message.topic, []).append(said)


def _stamped_chunk(decoded: Any) -> tuple[int, Chunk]:
    chunk = messages.chunk(decoded)
    return chunk.stamp, chunk


def read_episodes(bag: Bag, said: Callable[[str], None] = print) -> list[Episode]:
    """The episodes of a bag, in order; `said` hears what was left out, and why.

    Errors: RuleSafeError where there are no joint states, or no whole episode.
    """
    bag.known(JOINTS)
    reader = _Reader(bag, said)
    reader.read()
    found = []
    for samples in _divide(reader.samples, reader.starts):
        first = samples[0].stamp
        if reader.starts and not any(first - PERIOD < start <= first for start in reader.starts):
            said(
                f"left out: {len(samples)} joint states from {first / SECOND:.1f} s on, where no "
                "episode begins: one that was under way, say, when the recording began"
            )
            continue
        episode = _frames(_whole(first), samples, reader.names)
        if episode.frames > 1:
            _attach(episode, reader)
            found.append(episode)
    if not found:
        raise RuleSafeError(
            f"{bag.path} holds no episode from its beginning on: begin to record before the "
            "episode does, by record:= of the launch file, or reset once more"
        )
    return found


def _divide(samples: Sequence[Sample], starts: Sequence[int]) -> list[list[Sample]]:
    """Joint states, in the order of recording, divided where an episode starts, the clock jumps
    back, or there is a gap; those that were sent twice or came late are left out."""
    parts: list[list[Sample]] = []
    last: int | None = None
    for sample in samples:
        stamp = sample.stamp
        if last is not None and last - PERIOD <= stamp <= last:
            continue
        starts_here = last is not None and any(last < start <= stamp for start in starts)
        if last is None or stamp < last or stamp - last > MAX_GAP or starts_here:
            parts.append([])
        parts[-1].append(sample)
        last = stamp
    return parts


def _whole(stamp: int) -> int:
    """The first multiple of 0.1 s that is not before it."""
    return -(-stamp // PERIOD) * PERIOD


def _frames(start: int, samples: Sequence[Sample], names: tuple[str, ...]) -> Episode:
    """The frames of an episode up to its last joint state, interpolated where need be."""
    stamps = np.array([sample.stamp for sample in samples])
    count = max((int(stamps[-1]) - start) // PERIOD + 1, 0)
    positions = np.empty((count, len(ALL_JOINTS)), np.float32)
    velocities = np.empty_like(positions)
    for frame in range(count):
        due = start + frame * PERIOD
        after = int(np.searchsorted(stamps, due))
        here, last = samples[after], samples[max(after - 1, 0)]
        if here.stamp == due or here is last:  # as it is: no rounding
            positions[frame], velocities[frame] = here.positions, here.velocities
            continue
        share = (due - last.stamp) / (here.stamp - last.stamp)
        positions[frame] = last.positions + share * (here.positions - last.positions)
        velocities[frame] = last.velocities + share * (here.velocities - last.velocities)
    return Episode(
        start,
        count,
        positions,
        velocities,
        names,
        sorted((sample.published, sample.stamp) for sample in samples),
        recorded=(samples[0].when, samples[-1].when),
    )


def _attach(episode: Episode, reader: _Reader) -> None:
    """What else was said in the time of an episode."""
    begin, end = (episode.recorded[0] - NEAR, episode.recorded[1] + NEAR)

    def of(topic: str) -> list[_Said]:
        return [
            said
            for said in reader.said.get(topic, ())
            if begin <= said.when <= end and episode.start <= said.stamp <= episode.end
        ]

    episode.statuses = {said.stamp: said.what for said in of(STATUS)}
    episode.tokens = {said.stamp: said.what for said in of(TOKENS)}
    bridge = of(BRIDGE)
    over = max((said.stamp for said in bridge if said.what.state == "ACTIVE"), default=-1)
    episode.commands = {s.stamp: np.array(s.what.command) for s in bridge if s.stamp <= over}
    episode.instruction = _instruction(episode, reader.said.get(INSTRUCTION, ()))
    sent = [published for published, _ in episode.clock]
    for said in of(CHUNKS):
        newest = episode.clock[max(bisect_right(sent, said.published) - 1, 0)][1]
        episode.chunks.append((max(newest, said.stamp), said.what))


def _instruction(episode: Episode, told: Sequence[_Said]) -> str:
    """What was said last when the episode began: the next one's comes right after its end. Where
    nothing had been said yet, what was said first while it lasted."""
    begin, end = episode.clock[0][0] + SOON, episode.recorded[1]
    before = [said.what for said in told if said.published <= begin]
    during = [said.what for said in told if said.when <= end]
    return str((before[-1:] or during[:1] or [""])[0])
