"""Read the episodes of a bag: joint states at 10 Hz, chunks, statuses and tokens.

An episode starts at a stamp on /episode/started or, in a bag without that topic, at the first joint
state and after each gap in the joint states. As in the memory and the policy, frames are at the
multiples of 0.1 s of the stamps' clock; joint states are interpolated.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.chunks import PERIOD, SECOND, Chunk
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS, ALL_JOINTS
from rulesafe_core.messages import decode_chunk, to_ns
from rulesafe_core.robot import FIXED_POSITIONS
from rulesafe_data.bags.decoding import MessageDecoder
from rulesafe_data.bags.reading import Bag
from vq_memory_node.resampling import Resampler, Sample

JOINTS, STARTED, STATUS = "/joint_states", "/episode/started", "/episode/status"
CHUNKS, INSTRUCTION, BRIDGE = "/policy/action_chunk", "/instruction", "/bridge/state"
TOKENS = "/memory/tokens"

INSTRUCTION_DELAY = SECOND // 20
"""Largest delay of an episode's instruction after its first joint state, ns."""

MAX_GAP = SECOND // 2
"""Time without joint states that ends an episode, ns."""

MARGIN = 2 * SECOND
"""Time before the first and after the last joint state in which an episode's messages are, ns."""


@dataclass(frozen=True)
class BagEpisode:
    """One episode of a bag.

    Attributes:
        start: stamp of its first frame, ns.
        positions, velocities: (frames, 39) float32, rad and rad/s, order of ALL_JOINTS.
        chunks: chunks with the time at which they were received (stamps' clock, ns).
        commands: commands on /bridge/state by stamp, up to the last one in state ACTIVE.
        statuses: the last EpisodeStatus of each stamp.
        instruction: "" if there is none.
        tokens: MemoryTokens by stamp.
        recorded: times at which the first and the last joint state were recorded, ns.
    """

    start: int
    positions: NDArray[np.float32]
    velocities: NDArray[np.float32]
    chunks: list[tuple[int, Chunk]]
    commands: dict[int, NDArray[np.float64]]
    statuses: dict[int, Any]
    instruction: str
    tokens: dict[int, Any]
    recorded: tuple[int, int]

    @property
    def frames(self) -> int:
        return len(self.positions)

    @property
    def end(self) -> int:
        """Stamp of the last frame, ns."""
        return self.stamp(self.frames - 1)

    def stamp(self, frame: int) -> int:
        """Return the stamp of a frame, ns."""
        return self.start + frame * PERIOD

    def from_first_chunk(self) -> "BagEpisode":
        """Return the episode without the frames before the observation of its first chunk."""
        stamps = [chunk.stamp for _, chunk in self.chunks]
        idle = max((min(stamps) - self.start) // PERIOD, 0) if stamps else 0
        return replace(
            self,
            start=self.stamp(idle),
            positions=self.positions[idle:],
            velocities=self.velocities[idle:],
        )


@dataclass(frozen=True)
class _Entry:
    """A decoded message with its stamp and its times of publication and recording, ns."""

    stamp: int
    published: int
    recorded: int
    value: Any


class _Entries:
    """The decoded messages of a bag by topic, without images and point clouds.

    Attributes:
        joint_names: names in the joint states, whose values are positions and velocities (78,).
        rejected: errors of skipped messages, with their numbers.
    """

    def __init__(self, bag: Bag):
        self.joint_names: tuple[str, ...] = ()
        self.rejected: Counter[str] = Counter()
        topics = (JOINTS, STARTED, STATUS, CHUNKS, INSTRUCTION, BRIDGE, TOKENS)
        self._by_topic: dict[str, list[_Entry]] = {topic: [] for topic in topics}
        decode = MessageDecoder(bag)
        for message in bag.messages(topics):
            try:
                stamp, value = self._read(message.topic, decode(message))
            except RuleSafeError as error:
                self.rejected[str(error)] += 1
                continue
            entry = _Entry(stamp, message.published, message.when, value)
            self._by_topic[message.topic].append(entry)

    def __getitem__(self, topic: str) -> list[_Entry]:
        return self._by_topic[topic]

    def _read(self, topic: str, message: Any) -> tuple[int, Any]:
        """Return the stamp and the value of a message."""
        if topic == STARTED:
            return to_ns(message), None
        if topic == INSTRUCTION:
            return 0, message.data
        if topic == CHUNKS:
            chunk = decode_chunk(message)
            return chunk.stamp, chunk
        value = self._joint_states(message) if topic == JOINTS else message
        return to_ns(message.header.stamp), value

    def _joint_states(self, message: Any) -> NDArray[np.float64]:
        names = tuple(message.name)
        if names != self.joint_names:
            missing = [joint for joint in ACTION_JOINTS if joint not in names]
            if missing:
                raise RuleSafeError(f"joint states without {', '.join(missing)}")
            self.joint_names = names
            self._columns = [
                (i, names.index(joint)) for i, joint in enumerate(ALL_JOINTS) if joint in names
            ]
        positions = np.array([FIXED_POSITIONS.get(joint, 0.0) for joint in ALL_JOINTS])
        velocities = np.zeros(len(ALL_JOINTS))
        for target, source in self._columns:
            positions[target] = message.position[source]
            if len(message.velocity):
                velocities[target] = message.velocity[source]
        if not np.isfinite(positions).all():
            raise RuleSafeError("joint states with positions that are not finite")
        return np.r_[positions, velocities]


def read_episodes(bag: Bag, report: Callable[[str], None] = print) -> list[BagEpisode]:
    """Return the episodes of a bag, in order.

    Args:
        bag: the bag.
        report: called with a line for each skipped part and the reason.

    Raises:
        RuleSafeError: the bag has no joint states, or no complete episode.
    """
    bag.known(JOINTS)
    entries = _Entries(bag)
    for error, count in entries.rejected.items():
        report(f"skipped {count} messages: {error}")
    starts = [entry.stamp for entry in entries[STARTED]]
    episodes = []
    for states in _split(entries[JOINTS], starts):
        first = states[0].stamp
        if starts and not any(first - PERIOD < start <= first for start in starts):
            report(
                f"skipped: {len(states)} joint states from {first / SECOND:.1f} s on: no episode "
                "starts there (the recording may have started during an episode)"
            )
            continue
        begin, end = states[0].recorded, states[-1].recorded
        if any(damage.overlaps(begin, end) for damage in bag.damaged):
            report(f"skipped: the episode at {first / SECOND:.1f} s: the bag is damaged there")
            continue
        frames = _resample(states)
        if len(frames) > 1:
            episodes.append(_episode(states, frames, entries))
    if not episodes:
        raise RuleSafeError(
            f"{bag.path} contains no complete episode: start the recorder before the episode "
            "(record:= of the launch file), or reset the episode after the recorder has started"
        )
    return episodes


def _split(states: Sequence[_Entry], starts: Sequence[int]) -> list[list[_Entry]]:
    """Split joint states, in recorded order, at starts of episodes, backward jumps of the clock and
    gaps; repeated and late joint states are skipped."""
    parts: list[list[_Entry]] = []
    last: int | None = None
    for state in states:
        stamp = state.stamp
        if last is not None and last - PERIOD <= stamp <= last:
            continue
        starts_here = last is not None and any(last < start <= stamp for start in starts)
        if last is None or stamp < last or stamp - last > MAX_GAP or starts_here:
            parts.append([])
        parts[-1].append(state)
        last = stamp
    return parts


def _resample(states: Sequence[_Entry]) -> list[Sample]:
    resampler = Resampler()
    return [frame for state in states for frame in resampler.push(Sample(state.stamp, state.value))]


def _episode(states: Sequence[_Entry], frames: Sequence[Sample], entries: _Entries) -> BagEpisode:
    start, end = frames[0].stamp, frames[-1].stamp
    first, last = states[0].recorded, states[-1].recorded

    def within(topic: str) -> list[_Entry]:
        return [
            entry
            for entry in entries[topic]
            if first - MARGIN <= entry.recorded <= last + MARGIN and start <= entry.stamp <= end
        ]

    values = np.array([frame.values for frame in frames]).astype(np.float32)
    positions, velocities = np.split(values, 2, axis=1)
    clock = sorted((state.published, state.stamp) for state in states)
    chunks = []
    for entry in within(CHUNKS):
        newest = clock[max(bisect_right(clock, entry.published, key=lambda t: t[0]) - 1, 0)][1]
        chunks.append((max(newest, entry.stamp), entry.value))
    bridge = within(BRIDGE)
    active = max((entry.stamp for entry in bridge if entry.value.state == "ACTIVE"), default=-1)
    return BagEpisode(
        start=start,
        positions=positions,
        velocities=velocities,
        chunks=chunks,
        commands={e.stamp: np.array(e.value.command) for e in bridge if e.stamp <= active},
        statuses={entry.stamp: entry.value for entry in within(STATUS)},
        instruction=_instruction(entries[INSTRUCTION], clock[0][0] + INSTRUCTION_DELAY, last),
        tokens={entry.stamp: entry.value for entry in within(TOKENS)},
        recorded=(first, last),
    )


def _instruction(entries: Sequence[_Entry], start: int, end: int) -> str:
    """Return the last instruction published up to `start`, else the first one up to `end`.

    The instruction of the next episode may follow directly after the end of an episode.
    """
    before = [entry.value for entry in entries if entry.published <= start]
    during = [entry.value for entry in entries if entry.recorded <= end]
    return str((before[-1:] or during[:1] or [""])[0])
