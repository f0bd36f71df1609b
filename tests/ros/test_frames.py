"""Tests of the frames on /tf and /tf_static, with real nodes."""

import numpy as np
import pytest

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from sensor_msgs.msg import JointState
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from rulesafe_core import convert
from rulesafe_core.chunks import SECOND
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.messages import to_ns
from rulesafe_core.robot import h1_2
from rulesafe_core.transforms import from_xyz_quat
from rulesafe_core.urdf import to_urdf
from rulesafe_sim.config import SimulationConfig
from rulesafe_sim.simulation import Simulation

pytestmark = pytest.mark.ros

SIM, NODE = "rulesafe_sim.node", "rulesafe_core.frames_node"
EPISODE = ("rule:=rule_001", "safe:=safe_02", "seed:=3", "split:=shifted")


class Frames:
    """Buffer of the received transforms, as tf2 keeps it."""

    def __init__(self, client):
        self.static: dict[str, tuple] = {}
        self.moving: dict[int, dict[str, tuple]] = {}
        client.create_subscription(TFMessage, "/tf", self._on_moving, convert.STATE_QOS)
        client.create_subscription(TFMessage, "/tf_static", self._on_static, convert.LATCHED_QOS)

    def _on_static(self, message):
        self.static |= dict(map(self._entry, message.transforms))

    def _on_moving(self, message):
        stamps = {to_ns(frame.header.stamp) for frame in message.transforms}
        assert len(stamps) == 1, "one message has one stamp"
        self.moving[stamps.pop()] = dict(map(self._entry, message.transforms))

    @staticmethod
    def _entry(frame):
        t, r = frame.transform.translation, frame.transform.rotation
        pose = from_xyz_quat((t.x, t.y, t.z), (r.w, r.x, r.y, r.z))
        return frame.child_frame_id, (frame.header.frame_id, pose)

    def pose(self, link: str, stamp: int) -> np.ndarray:
        """Return the pose of a link in the pelvis frame at a stamp."""
        pose = np.eye(4)
        tree = self.static | self.moving[stamp]
        while link != "pelvis":
            link, local = tree[link]
            pose = local @ pose
        return pose


def test_frames_of_the_simulation_are_those_of_the_robot_at_the_stamps_of_frames(client, start):
    frames = Frames(client)
    start(SIM, *EPISODE, "cameras:=false", "wait_for_action:=false", "real_time_factor:=2.0")
    client.until(lambda: len(frames.moving) > 5 and frames.static, "frames")
    stamps = sorted(frames.moving)
    assert not any(stamp % (SECOND // 10) for stamp in stamps)
    stamp = stamps[4]

    def states():
        return [s for s in client.joint_states if to_ns(s.header.stamp) == stamp]

    client.until(states, "the joint states of this stamp")
    state = states()[0]
    expected = h1_2().link_poses(dict(zip(state.name, state.position, strict=True)))
    for link, pose in expected.items():
        np.testing.assert_allclose(frames.pose(link, stamp), pose, atol=1e-9, err_msg=link)
    base = frames.pose("base_link", stamp)  # REP 120
    np.testing.assert_allclose(base, frames.pose("pelvis", stamp), atol=1e-9)


def test_optical_frames_are_where_the_cameras_are_rendered(client, start):
    """Also in an episode whose variation has moved the cameras."""
    from rulesafe_sim.observer import Observer

    frames = Frames(client)
    start(SIM, *EPISODE, "cameras:=false", "wait_for_action:=false")
    client.until(lambda: frames.moving and frames.static, "frames")
    for seed in (3, 4):
        client.reset(seed=seed)
        client.until(lambda s=seed: client.status.seed == s, "the episode")
        simulation = Simulation(SimulationConfig(split="shifted"))
        try:
            simulation.reset("rule_001", "safe_02", seed)
        except RuleSafeError as error:
            pytest.skip(str(error))
        rig = Observer(simulation).rig
        for camera in ("head", "front"):
            link, expected = f"{camera}_camera_optical_frame", rig.pose_camera_in_pelvis(camera)
            client.until(
                lambda link=link, expected=expected: np.allclose(
                    frames.pose(link, max(frames.moving)), expected, atol=1e-6
                ),
                f"{link} of the rendered camera",
            )


def test_a_late_subscriber_receives_the_frames_while_time_is_stopped(client, start):
    """Once: tf2 warns of each repeated frame."""
    start(SIM, *EPISODE, "cameras:=false")
    client.wait_for_turn()
    received: list[TFMessage] = []
    client.create_subscription(TFMessage, "/tf", received.append, convert.STATE_QOS)
    client.until(lambda: received, "frames")
    client.settle()
    assert [to_ns(m.transforms[0].header.stamp) for m in received] == [client.now]


def test_without_tf_no_frames_are_published(client, start):
    start(SIM, *EPISODE, "cameras:=false", "tf:=false")
    client.wait_for_turn()
    assert client.count_publishers("/tf") == client.count_publishers("/tf_static") == 0


@pytest.mark.timeout(300)  # it reads the output of a node
def test_frames_node_publishes_the_received_robot_at_a_limited_rate(client, start):
    """A clock that jumps back does not stop it."""
    frames = Frames(client)
    description = client.create_publisher(String, "/robot_description", convert.LATCHED_QOS)
    description.publish(String(data="<robot"))  # an error, which does not end the node
    joints = client.create_publisher(JointState, "/joint_states", convert.STATE_QOS)
    node = start(NODE, "rate:=10.0")
    assert any("not a valid URDF" in line for line in node.process.stdout)
    client.until_subscribed_by("frames_node", "/robot_description", "/joint_states")
    description.publish(String(data=to_urdf(h1_2())))
    client.until(lambda: frames.static, "fixed frames")
    name, position = "right_elbow_joint", 0.4

    def publish(stamp: int) -> None:
        state = JointState(name=[name], position=[position])
        state.header.stamp = convert.to_time(stamp)
        joints.publish(state)

    for begin in (100 * SECOND, 10 * SECOND):
        sent = [begin + i * SECOND // 100 for i in range(101)]
        for stamp in sent:
            publish(stamp)
            client.spin_for(0.01)
        client.until(lambda s=sent: not frames.moving.keys().isdisjoint(s), "frames")
        client.settle()
        received = [stamp for stamp in sent if stamp in frames.moving]
        assert 1 <= len(received) <= 11
        expected = h1_2().link_poses({name: position})
        for link, pose in expected.items():
            np.testing.assert_allclose(frames.pose(link, received[0]), pose, atol=1e-9)
    node.stop_well()
