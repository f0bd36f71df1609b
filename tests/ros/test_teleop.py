"""Teleoperation by poses and by the keyboard, with the simulation."""

import math
import os
import pty
import re
import select
import signal
import sys
import time
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import PoseStamped, Twist, Vector3
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64, String
from test_docs import section
from trajectory_msgs.msg import JointTrajectory

from rulesafe_core import convert
from rulesafe_core.chunks import PERIOD, SECOND
from rulesafe_core.chunks_ros import CHUNKS
from rulesafe_core.joints import ACTION_JOINTS
from rulesafe_core.messages import decode_chunk, decode_pose, to_ns
from rulesafe_core.robot import HOME
from rulesafe_data.store import EpisodeStore
from rulesafe_eval.recorder_ros import DISCOVERY_DELAY
from rulesafe_ros.bag.to_dataset import ConversionRequest, to_dataset
from teleop_node.node import TeleopNode
from teleop_node.tracking import difference, moved

pytestmark = pytest.mark.ros

SIM, NODE = "rulesafe_sim.node", "teleop_node.node"
LAUNCH = Path(__file__).parents[2] / "launch/teleop.launch.xml"
NONE = np.zeros(3)
TIME_LIMIT = 180.0
"""Simulated time in which a person opens rule_001 with the keyboard, s."""


class InputDevice:
    """Publishes what an input device would, and receives what the node publishes."""

    def __init__(self, client) -> None:
        self.client = client
        client.destroy_publisher(client._chunks)
        self.grip = 0.0  # what a test keeps sending
        self.hands: list[PoseStamped] = []
        self.chunks: list[JointTrajectory] = []
        self.statuses: list[DiagnosticStatus] = []
        for kind, topic, store in (
            (PoseStamped, "/teleop/hand_pose", self.hands.append),
            (JointTrajectory, "/policy/action_chunk", self.chunks.append),
            (DiagnosticArray, "/diagnostics", self._on_diagnostics),
        ):
            client.create_subscription(kind, topic, store, convert.STATE_QOS)
        self._poses = client.create_publisher(PoseStamped, "/teleop/target_pose", 10)
        self._grips = client.create_publisher(Float64, "/teleop/grip", 10)
        self._requests = client.create_publisher(String, "/teleop/assist", 10)
        client.until(lambda: self.hands, "/teleop/hand_pose")
        topics = ("/teleop/target_pose", "/teleop/grip", "/teleop/assist")
        client.until_subscribed_by("teleop_node", *topics)

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        self.statuses += [status for status in message.status if status.name == "teleop_node"]

    @property
    def hand(self) -> np.ndarray:
        """The newest commanded pose of the hand."""
        return decode_pose(self.hands[-1].pose)

    def at_rest(self) -> np.ndarray:
        """Wait until ten commanded poses in a row, of different stamps, are equal; return the
        pose."""
        self.hands.clear()

        def rests() -> bool:
            poses = {to_ns(hand.header.stamp): decode_pose(hand.pose) for hand in self.hands}
            last = [poses[stamp] for stamp in sorted(poses)[-10:]]
            return len(last) == 10 and np.ptp(last, axis=0).max() < 1e-6

        self.client.until(rests, "a hand at rest")
        return self.hand

    def send(
        self, pose=None, grip: float | None = None, frame: str = "pelvis", request: str = ""
    ) -> None:
        if pose is not None:
            message = PoseStamped(pose=convert.to_pose(pose))
            message.header.frame_id = frame
            self._poses.publish(message)
        if grip is not None:
            self._grips.publish(Float64(data=grip))
        if request:
            self._requests.publish(String(data=request))

    def until(self, condition, what: str, **sent) -> None:
        """Send the same again and again until the condition is true."""

        def holds() -> bool:
            self.send(**sent)
            return condition()

        try:
            self.client.until(holds, what)
        except AssertionError as error:
            newest = self.statuses[-1].message if self.statuses else "none"
            raise AssertionError(f"{error}; the newest status: {newest}") from None

    def assist(self, request: str) -> None:
        """Request a motion and wait for its end."""
        self.statuses.clear()
        self.send(request=request)
        self.until(lambda: "assisted" in self.modes, request, grip=self.grip)
        self.until(lambda: self.modes[-1] != "assisted", "the end", grip=self.grip)
        assert self.says("following"), self.statuses[-1].message

    def at(self, pose) -> bool:
        shift, turn = difference(self.hand, pose)
        return bool(np.linalg.norm(shift) < 0.003 and np.linalg.norm(turn) < 0.03)

    @property
    def modes(self) -> list[str]:
        """The values `mode` on /diagnostics."""
        return self.values("mode")

    def values(self, key: str) -> list[str]:
        values = [value for status in self.statuses for value in status.values]
        return [value.value for value in values if value.key == key]

    def force(self, name: str) -> float:
        """Force of the robot on a part, N."""
        status = self.client.status
        return dict(zip(status.contact_names, status.contact_forces, strict=True))[name]

    def says(self, text: str) -> bool:
        """Whether the newest status contains a text."""
        return bool(self.statuses) and text in self.statuses[-1].message


@pytest.fixture
def device(client, start):
    """device(*parameters of the node, sim=parameters of the simulation) -> InputDevice."""

    def begin(*parameters, sim=("wait_for_action:=false", "real_time_factor:=1.0")) -> InputDevice:
        start(SIM, "cameras:=false", "safe:=safe_03", *sim)

        def start_node():
            # Busy machines: the input of this process may come late.
            return start(NODE, "input_timeout:=10.0", "state_timeout:=10.0", *parameters)

        node = start_node()
        found = InputDevice(client)
        found.node, found.start_node = node, start_node
        return found

    return begin


def test_the_hand_moves_with_a_velocity(device):
    """As of a SpaceMouse or a gamepad: at most at the limit, and not without one."""
    found = device("linear_speed:=0.08")
    twists = found.client.create_publisher(Twist, "/teleop/twist", 10)
    found.client.until(twists.get_subscription_count, "a subscriber of /teleop/twist")
    start, begin = found.hand, len(found.hands)

    def moved_up() -> bool:
        twists.publish(Twist(linear=Vector3(z=5.0)))
        return bool(found.hand[2, 3] > start[2, 3] + 0.06)

    found.client.until(moved_up, "a motion upwards")
    shift, turn = difference(start, found.hand)
    assert np.abs(shift[:2]).max() < 0.004
    assert np.linalg.norm(turn) < 0.03
    hands = found.hands[begin:]
    seconds = (to_ns(hands[-1].header.stamp) - to_ns(hands[0].header.stamp)) / SECOND
    assert shift[2] <= 0.08 * seconds + 0.012
    twists.publish(Twist())
    stopped = found.at_rest()
    found.client.settle()
    assert found.at(stopped)


@pytest.mark.parametrize("lock_step", [pytest.param(False, marks=pytest.mark.thorough), True])
def test_the_hand_follows_a_pose_at_limited_speed(device, lock_step):
    sim = () if lock_step else ("wait_for_action:=false", "real_time_factor:=1.0")
    found = device("linear_speed:=0.1", f"idle_chunks:={not lock_step}".lower(), sim=sim)
    start = found.hand
    goal = moved(start, np.array([0.05, 0.05, 0.05]), np.array([0.0, 0.0, 0.3]))
    found.until(lambda: found.at(goal), "the goal", pose=goal, grip=0.0)
    poses = [(to_ns(m.header.stamp) / SECOND, decode_pose(m.pose)) for m in found.hands]
    for (before, first), (after, second) in pairwise(poses):
        distance = np.linalg.norm(difference(first, second)[0])
        assert distance <= 0.1 * (after - before) + 0.1 * PERIOD / SECOND + 0.002
    chunks = [decode_chunk(chunk) for chunk in found.chunks]
    assert all(len(chunk.steps) == 5 for chunk in chunks)
    if lock_step:
        found.client.until(
            found.client.time_stops, "a stopped clock while the arm is at its target"
        )


def test_the_arm_holds_when_the_input_stops(device):
    """The last chunk holds the arm, and none follows; new input continues from there."""
    found = device("linear_speed:=0.05", "input_timeout:=1.5")
    start = found.hand
    goal = moved(start, np.array([0.0, 0.0, 0.2]), NONE)
    away = moved(start, np.array([0.0, 0.0, 0.03]), NONE)
    found.until(lambda: found.hand[2, 3] > away[2, 3], "a motion", pose=goal)
    found.client.until(lambda: found.says("no input"), "the end of the motion")
    held = found.at_rest()
    assert held[2, 3] < goal[2, 3] - 0.02
    found.client.until(
        lambda: not np.ptp(decode_chunk(found.chunks[-1]).steps, 0).any(), "a chunk that holds"
    )
    count = len(found.chunks)
    found.client.settle()
    assert len(found.chunks) == count
    assert found.at(held)
    nearer = moved(held, np.array([0.0, 0.0, -0.02]), NONE)
    found.until(lambda: found.at(nearer), "the new target", pose=nearer)


def test_invalid_and_far_targets_are_reported_and_nothing_moves(device):
    found = device()
    start = found.hand
    near = moved(start, np.array([0.05, 0, 0]), NONE)
    broken = start.copy()
    broken[0, 3] = np.nan
    for what, text in (
        ({"pose": moved(start, np.array([0.4, 0, 0]), NONE)}, "0.40 m and 0 deg from the hand"),
        ({"pose": near, "frame": "camera"}, "frame 'camera'; valid: 'pelvis'"),
        ({"pose": broken}, "must be finite"),
        ({"grip": 2.0}, "/teleop/grip is 2; valid: 0 (open) to 1"),
        ({"request": "jump"}, "unknown request 'jump'"),
    ):
        found.until(lambda text=text: found.says(text), text, **what)
        assert found.statuses[-1].level == DiagnosticStatus.WARN
    found.client.settle()
    assert found.at(start)


def test_a_restarted_node_continues_from_the_measured_posture(device):
    found = device()
    goal = moved(found.hand, np.array([0.05, 0, 0.05]), NONE)
    found.until(lambda: found.at(goal), "the goal", pose=goal)
    found.node.stop(signal.SIGKILL)
    found.hands.clear()
    found.node = found.start_node()
    found.client.until(lambda: found.hands, "the restarted node")
    shift, _ = difference(found.hand, goal)
    assert np.linalg.norm(shift) < 0.03  # the arm sags a little below its targets
    back = moved(found.hand, np.array([-0.05, 0, 0]), NONE)
    found.until(lambda: found.at(back), "the next goal", pose=back)


def test_the_documentation_lists_the_topics(device):
    """docs/interface.md: the topics of the node, with type and direction."""
    found = device()
    client, node = found.client, ("teleop_node", "/")
    graph = {
        "published": client.get_publisher_names_and_types_by_node(*node),
        "subscribed": client.get_subscriber_names_and_types_by_node(*node),
    }
    topics = {
        (topic, kinds[0].replace("/msg", ""), direction)
        for direction, named in graph.items()
        for topic, kinds in named
        if topic not in ("/rosout", "/parameter_events")
    }
    rows = section("teleop_node")
    assert {(row[0], row[1], row[2]) for row in rows} == topics


def test_another_publisher_of_chunks_is_reported(device):
    found = device()
    start = found.hand
    other = found.client.create_publisher(
        JointTrajectory, "/policy/action_chunk", convert.STATE_QOS
    )
    goal = moved(start, np.array([0.1, 0, 0]), NONE)
    found.until(lambda: found.says("has another publisher: test_client"), "the report", pose=goal)
    found.client.destroy_publisher(other)
    found.until(lambda: found.at(goal), "the goal", pose=goal)


@pytest.fixture
def assisting(client, start):
    """A node that is not spun, in an assisted motion, and the modes it has reported."""
    start(SIM, "cameras:=false", "safe:=safe_03")
    client.destroy_publisher(client._chunks)
    node, modes = TeleopNode(), []
    try:
        client.until(lambda: node.count_publishers(CHUNKS) == 1, "no other publisher of chunks")
        node._values = replace(node._values, input_timeout=10.0)
        node._diagnostics.publish = lambda level, message, values: modes.append(values["mode"])
        node._on_status(client.status)
        node._on_joints(client.joints)
        node._on_assist(String(data="approach knob"))
        assert modes == ["assisted"]
        yield node, modes
    finally:
        node._reservation.close()
        node.destroy_node()


def test_begin_and_end_of_a_motion_are_reported_between_two_reports(client, assisting):
    """A fast simulation executes it in less than 0.1 s. The timer of a node that is not spun never
    fires."""
    node, modes = assisting
    joints = client.joints
    begin = to_ns(joints.header.stamp)
    for step in range(1, 200):
        joints.header.stamp = convert.to_time(begin + step * PERIOD)
        node._on_joints(joints)
    assert modes == ["assisted", "following"]


def test_an_invalid_contact_force_stops_an_assisted_motion(client, assisting):
    """Not a number, or names without values."""
    node, _ = assisting
    status = client.status
    valid = status.contact_forces
    for invalid in ([math.nan] * len(status.contact_names), []):
        status.contact_forces = valid
        node._on_status(status)
        node._on_assist(String(data="approach knob"))
        assert node._assisting
        status.contact_forces = invalid
        node._on_status(status)
        assert not node._assisting and node._problem.startswith("stopped: ")


def test_a_contact_force_above_the_limit_stops_an_assisted_motion(device):
    """The hand can still be opened."""
    found = device("force_limit:=5.0", "idle_chunks:=false", sim=())

    found.assist("approach knob")
    found.assist("grasp")
    found.grip = 1.0
    found.until(lambda: found.values("grip")[-1:] == ["1.0"], "a closed hand", grip=1.0)
    found.until(lambda: found.force("knob") > 10, "contact", grip=1.0)
    found.send(request="turn 30")
    found.until(lambda: found.says("N on the knob"), "the stop", grip=1.0)
    assert found.says("stopped: ")
    turned = found.client.status.part_positions[found.client.status.parts.index("knob")]
    assert abs(turned) < 0.3
    found.until(lambda: found.force("knob") < 1, "an open hand", grip=0.0)


def test_assisted_motions_need_the_state_of_a_simulation(client, start):
    """The robot publishes joint states, but not where the safe is."""
    start(NODE, "input_timeout:=5.0")
    names = list(ACTION_JOINTS)
    joints = client.create_publisher(JointState, "/joint_states", convert.STATE_QOS)
    timer = client.create_timer(0.05, lambda: joints.publish(joint_state(client, names)))
    found = InputDevice(client)
    text = "assisted motions need /episode/status"
    found.until(lambda: found.says(text), text, request="approach knob")
    client.destroy_timer(timer)


def joint_state(client, names: list[str]) -> JointState:
    message = JointState(name=names, position=[HOME[name] for name in names])
    message.header.stamp = client.get_clock().now().to_msg()
    return message


def test_a_new_episode_begins_without_targets(device):
    found = device()
    start = found.hand
    goal = moved(start, np.array([0.1, 0, 0]), NONE)
    found.until(lambda: found.at(goal), "the goal", pose=goal)
    found.client.reset(seed=1)
    found.hands.clear()
    found.client.until(lambda: found.hands and not found.at(goal), "the new pose")
    found.client.settle()
    assert not found.at(goal)


class Typist:
    """A person at the keyboard, who looks at the parts of the safe, at the displayed lines and at
    each message of teleop_node, since the keyboard displays only the newest one."""

    def __init__(self, client, *options: str) -> None:
        self.client = client
        self.messages: list[str] = []
        client.create_subscription(
            DiagnosticArray, "/diagnostics", self._on_diagnostics, convert.STATE_QOS
        )
        self.child, self.terminal = pty.fork()
        if not self.child:
            command = [sys.executable, "-m", "rulesafe_cli.cli", "teleop", *options]
            os.execv(sys.executable, command)
        self.text = ""
        self.pressed = 0

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        found = message.status
        self.messages += [status.message for status in found if status.name == "teleop_node"]

    def read(self) -> None:
        while select.select([self.terminal], [], [], 0)[0]:
            try:
                self.text += os.read(self.terminal, 4096).decode(errors="ignore")
            except OSError:  # the command has ended
                return
        self.text = self.text[-20_000:]

    @property
    def shown(self) -> str:
        """The newest first line."""
        lines = re.findall(r"\x1b\[K([^\x1b]*)\r?\n", self.text)
        return lines[-1] if lines else ""

    def until(self, condition, what: str) -> None:
        def holds() -> bool:
            self.read()
            return condition()

        try:
            self.client.until(holds, what)
        except AssertionError as error:
            raise AssertionError(f"{error}; the terminal: {self.text[-600:]!r}") from None

    def press(self, key: str) -> None:
        os.write(self.terminal, key.encode())
        self.pressed += 1

    def assist(self, key: str, words: str) -> None:
        """Press a key of an assisted motion, and wait for its end, or for its refusal."""
        self.messages.clear()
        self.press(key)
        self.until(
            lambda: any(text.startswith(words) or "cannot" in text for text in self.messages),
            f"{words} after {key!r}",
        )
        self.until(lambda: not self.messages[-1].startswith(words), f"the end of {words}")

    def close(self) -> None:
        self.press(" ")
        self.until(lambda: " closed " in self.shown and "touches" in self.shown, "a closed hand")

    def open_and_step_back(self, part: str) -> None:
        self.press(" ")
        self.until(lambda: " open " in self.shown and self.force(part) < 1, "an open hand")
        for _ in range(6):
            before = self.pressed_distance()
            self.press("s")
            self.until(
                lambda before=before: (
                    self.pressed_distance() > before + 0.3
                    or any(limit in self.shown for limit in ("arm's reach", "posture"))
                ),
                "a step back",
            )

    def pressed_distance(self) -> float:
        """The displayed distance from the door, cm."""
        found = re.findall(r"(-?[\d.]+) cm from the door", self.text)
        return float(found[-1]) if found else 0.0

    def force(self, part: str) -> float:
        status = self.client.status
        return dict(zip(status.contact_names, status.contact_forces, strict=True))[part]

    def is_open(self, part: str) -> bool:
        status = self.client.status
        return dict(zip(status.parts, status.part_open, strict=True))[part]

    def quit(self) -> int:
        self.press("x")
        return self.wait()

    def wait(self) -> int:
        """Return the status of the command's end; -1 after a minute."""
        end = time.monotonic() + 60
        while time.monotonic() < end:
            self.read()
            child, status = os.waitpid(self.child, os.WNOHANG)
            if child:
                return status
            time.sleep(0.05)
        self.end()
        return -1

    def end(self) -> None:
        """Kill the command if it has not ended."""
        with suppress(ChildProcessError, ProcessLookupError):
            os.kill(self.child, signal.SIGKILL)
            os.waitpid(self.child, 0)


@pytest.mark.timeout(1200)
def test_a_person_opens_the_safe_with_the_keyboard_and_the_bag_becomes_a_dataset(
    client, start, tmp_path
):
    # Paced, so that the shortest motion is displayed.
    arguments = ["cameras:=false", "view:=false", "real_time_factor:=2", "input_timeout:=5"]
    arguments += [f"record:={tmp_path / 'bag'}", "rule:=rule_001", "safe:=safe_03"]
    launch = start("rulesafe_cli.cli", words=("launch", str(LAUNCH), *arguments))
    client.destroy_publisher(client._chunks)
    client.until_subscribed_by("recorder", "/joint_states", "/episode/status")
    client.until(lambda: client.statuses, "/episode/status")
    person = Typist(client)
    try:
        person.until(lambda: "Task: " in person.text and person.shown, "the keyboard")
        client.settle(DISCOVERY_DELAY)  # the node of the keyboard was just started
        for part, key in (("knob", "1"), ("handle", "2"), ("door", "3")):
            for _ in range(3):  # grasp again if the part slips
                person.assist(key, f"approach {part}")
                person.assist("g", "grasp")
                person.close()
                for _ in range(10):
                    if person.is_open(part):
                        break
                    person.assist(*(("p", "pull 5") if part == "door" else ("t", "turn 15")))
                    if "stop" in person.messages[-1] or "cannot" in person.messages[-1]:
                        break
                if part != "door" or not person.is_open(part):
                    person.open_and_step_back("handle" if part == "door" else part)
                if person.is_open(part):
                    break
        person.until(lambda: client.status.success, "an open door")
        person.until(lambda: "THE DOOR IS OPEN" in person.shown, "the report")
        assert client.status.episode_time < TIME_LIMIT
        client.reset(seed=1)
        client.until(client.time_stops, "an episode in which nothing moves before the first key")
        assert client.status.frame == 0
        assert person.pressed < 60
    finally:
        code = person.quit()
        launch.stop()
    assert code == 0
    request = ConversionRequest(tmp_path / "demos", observations="joints", only_opened=True)
    assert to_dataset([tmp_path / "bag"], request) == 1
    store = EpisodeStore(tmp_path / "demos")
    assert store.privileged.facts(0)["success"]
    episode = store.episode(0)
    assert 100 < len(episode["action"]) < 10 * TIME_LIMIT
    lag = np.abs(episode["action"][:-1] - episode["observation.state"][1:])[:, :7]
    assert np.median(lag) < 0.02
