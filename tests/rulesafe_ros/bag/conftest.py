"""A synthetic bag like that of a real robot: irregular stamps, images of camera drivers, no status.
It is written without ROS."""

from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pytest
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from rulesafe_core.chunks import PERIOD, SECOND
from rulesafe_core.joints import ACTION_JOINTS, ALL_JOINTS
from rulesafe_data.bags.metadata import Topic
from rulesafe_data.bags.writing import BagWriter

INTERFACES = Path(__file__).parents[3] / "src/rulesafe_interfaces/msg"
OWN = ("BridgeState",)
DAY = 20_000 * 86_400 * SECOND  # the system's clock, ns


class Script:
    """Messages of a bag, which are written in the order of their recording times."""

    def __init__(self) -> None:
        self.store = get_typestore(Stores.ROS2_JAZZY)
        self.topics: dict[str, Topic] = {}
        self.messages: list[tuple[int, str, bytes]] = []
        for name in OWN:
            text = (INTERFACES / f"{name}.msg").read_text()
            self.store.register(get_types_from_msg(text, f"rulesafe_interfaces/msg/{name}"))

    def make(self, kind: str, **fields):
        package, name = kind.split("/")
        return self.store.types[f"{package}/msg/{name}"](**fields)

    def time(self, stamp: int):
        return self.make("builtin_interfaces/Time", sec=stamp // SECOND, nanosec=stamp % SECOND)

    def header(self, stamp: int, frame: str = ""):
        return self.make("std_msgs/Header", stamp=self.time(stamp), frame_id=frame)

    def say(self, topic: str, when: int, message) -> None:
        kind = message.__msgtype__
        if topic not in self.topics:
            definition = self.store.generate_msgdef(kind, ros_version=2)[0]
            self.topics[topic] = Topic(topic, kind, definition=definition)
        self.messages.append((when, topic, bytes(self.store.serialize_cdr(message, kind))))

    def joints(self, stamp: int, values: dict[str, float]) -> None:
        names = [name for name in reversed(ALL_JOINTS) if name in values]
        positions = np.array([values[name] for name in names])
        message = self.make(
            "sensor_msgs/JointState",
            header=self.header(stamp),
            name=names,
            position=positions,
            velocity=10 * positions,
            effort=np.zeros(0),
        )
        self.say("/joint_states", stamp + 2_000_000, message)

    def chunk(self, stamp: int, when: int, rows) -> None:
        points = [
            self.make(
                "trajectory_msgs/JointTrajectoryPoint",
                positions=np.asarray(row, float),
                velocities=np.zeros(0),
                accelerations=np.zeros(0),
                effort=np.zeros(0),
                time_from_start=self.make(
                    "builtin_interfaces/Duration",
                    sec=i * PERIOD // SECOND,
                    nanosec=i * PERIOD % SECOND,
                ),
            )
            for i, row in enumerate(rows, 1)
        ]
        names = list(ACTION_JOINTS)
        message = self.make(
            "trajectory_msgs/JointTrajectory",
            header=self.header(stamp),
            joint_names=names,
            points=points,
        )
        self.say("/policy/action_chunk", when, message)

    def picture(self, topic: str, stamp: int, pixels, encoding: str = "bgr8") -> None:
        """`pixels` (H, W, 3), in memory order; each row has 4 bytes of padding."""
        height, width, _ = pixels.shape
        padded = np.zeros((height, 3 * width + 4), np.uint8)
        padded[:, : 3 * width] = pixels.reshape(height, -1)
        message = self.make(
            "sensor_msgs/Image",
            header=self.header(stamp),
            height=height,
            width=width,
            encoding=encoding,
            is_bigendian=0,
            step=3 * width + 4,
            data=padded.ravel(),
        )
        self.say(topic, stamp + 30_000_000, message)

    def write(self, folder: Path, flushes: Iterable[int] = ()) -> Path:
        """Write the bag; `flushes`: times (ns) at which a chunk of the file ends."""
        due = sorted(flushes)
        with BagWriter(folder, flush=3600) as bag:
            for topic in self.topics.values():
                bag.add(topic)
            for when, topic, data in sorted(self.messages, key=lambda entry: entry[0]):
                if due and when >= due[0]:
                    bag.flush()
                    del due[0]
                bag.write(topic, when, when - 1_000_000, data)
        return folder


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
def motion() -> Callable[[int], dict[str, float]]:
    """motion(stamp) -> positions of the 13 joints, linear in time."""

    def at(stamp: int) -> dict[str, float]:
        seconds = (stamp - DAY) / SECOND
        return {name: 0.01 * (i + 1) * seconds for i, name in enumerate(ACTION_JOINTS)}

    return at


@pytest.fixture
def robot(script, motion) -> Callable[..., Script]:
    """robot(begin, end, stops=()) -> the script with joint states every 7 ms, from `begin` to `end`
    (s after DAY), except during the intervals `stops`."""

    def make(begin: float, end: float, stops: tuple[tuple[float, float], ...] = ()) -> Script:
        for step in range(round(begin * 1000), round(end * 1000), 7):
            if not any(low < step / 1000 < high for low, high in stops):
                stamp = DAY + step * 1_000_000 + 123_456
                script.joints(stamp, motion(stamp))
        return script

    return make


@pytest.fixture
def day() -> int:
    """System time at the start, ns."""
    return DAY
