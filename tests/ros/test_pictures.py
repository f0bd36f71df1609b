"""Tests of the images and point clouds of the simulation node, compared with the cameras."""

import numpy as np
import pytest

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import CameraInfo, CompressedImage, Image, PointCloud2

from rulesafe_core import messages
from rulesafe_core.chunks import PERIOD
from rulesafe_sim.observer import Observer
from rulesafe_sim.simulation import HOME_ACTION, Simulation

pytestmark = pytest.mark.ros

CAMERAS = ("head", "front")
KINDS = (
    {f"/camera/{name}/image_raw": Image for name in CAMERAS}
    | {f"/camera/{name}/camera_info": CameraInfo for name in CAMERAS}
    | {f"/film/{name}/compressed": CompressedImage for name in CAMERAS}
    | {"/camera/points": PointCloud2}
)


@pytest.fixture(scope="module")
def observer():
    """Observer of the same scene in this process."""
    simulation = Simulation()
    simulation.reset("rule_001", "safe_03", 2)
    return Observer(simulation)


def test_pictures_and_cloud_are_what_the_cameras_see(client, start, observer):
    seen = observer.observe(("head", "front", "points"))
    got: dict[str, dict[int, object]] = {topic: {} for topic in KINDS}
    for topic, kind in KINDS.items():

        def take(message, topic=topic):
            got[topic][messages.to_ns(message.header.stamp)] = message

        # Best effort, as usual for camera topics.
        client.create_subscription(kind, topic, take, qos_profile_sensor_data)
    start("rulesafe_sim.node", "safe:=safe_03", "seed:=2", "film:=true", "film_size:=128")
    client.wait_for_turn()
    begin = client.now
    client.until(lambda: all(begin in stamps for stamps in got.values()), "the first frame")

    for name in CAMERAS:
        image = got[f"/camera/{name}/image_raw"][begin]
        assert (image.encoding, image.header.frame_id) == ("rgb8", f"{name}_camera_optical_frame")
        assert (messages.decode_image(image) == seen[name]).all()
        info = got[f"/camera/{name}/camera_info"][begin]
        assert (info.width, info.height) == (224, 224)
        assert info.header.frame_id == image.header.frame_id
        np.testing.assert_allclose(info.k.reshape(3, 3), observer.rig.intrinsics(name))
        film = messages.decode_image(got[f"/film/{name}/compressed"][begin])
        assert film.shape == (128, 128, 3)
        assert film.std() > 20, "not an empty picture"
    cloud = got["/camera/points"][begin]
    assert (cloud.header.frame_id, cloud.width, cloud.point_step) == ("pelvis", 1024, 16)
    assert [field.name for field in cloud.fields] == ["x", "y", "z", "rgb"]
    np.testing.assert_allclose(messages.decode_cloud(cloud), seen["points"], atol=1e-6)

    client.send(np.tile(HOME_ACTION, (4, 1)), client.now)
    end = begin + 4 * PERIOD
    client.until(lambda: all(end in stamps for stamps in got.values()), "the last frame")
    assert set(got["/camera/points"]) <= set(range(begin, end + 1, PERIOD)), "10 Hz, on the frame"


@pytest.fixture
def held(client, start, tmp_path):
    """A simulation, and the file that holds its cameras (tests/ros/held_cameras.py)."""
    hold = tmp_path / "hold"
    simulation = start("tests.ros.held_cameras", "safe:=safe_03", words=[str(hold)])
    client.wait_for_turn()
    return simulation, hold


def test_a_simulation_whose_cameras_fail_ends_with_an_error(client, held):
    simulation, hold = held
    hold.write_text("no light")
    client.send(np.tile(HOME_ACTION, (5, 1)), client.now)
    code, output = simulation.wait()
    assert code == 2 and "the cameras have failed: no light" in output


def test_a_simulation_says_that_it_waits_for_images(client, held):
    simulation, hold = held
    hold.touch()
    client.send(np.tile(HOME_ACTION, (50, 1)), client.now)
    line = ""
    while "the simulation waits for them" not in line:
        line = simulation.process.stdout.readline()
        assert line, "the simulation ended"
    hold.unlink()
    client.until(lambda: client.status.frame >= 10, "simulated time advances")
    simulation.stop_well()


def test_joint_states_are_repeated_after_the_images_of_their_frame(client, held):
    """A policy would respond to a repeated joint state, with the images of another frame."""
    simulation, hold = held
    begin = client.now
    hold.touch()
    client.send(np.tile(HOME_ACTION, (1, 1)), begin)
    end = begin + PERIOD
    client.until(lambda: messages.to_ns(client.joints.header.stamp) == end, "the chunk's end")
    client.settle()
    client.joint_states.clear()
    client.clocks.clear()
    client.until(lambda: len(client.clocks) > 5, "repeated times")
    assert client.joint_states == [] and client.now < end
    hold.unlink()
    client.until(lambda: client.joint_states and client.now == end, "repeated joint states")
    simulation.stop_well()


def test_remapped_topics_are_those_of_the_cameras(client, start):
    got = []
    client.create_subscription(Image, "/robot/image", got.append, qos_profile_sensor_data)
    start(
        "rulesafe_sim.node",
        words=("--ros-args", "-r", "__node:=other", "-r", "/camera/head/image_raw:=/robot/image"),
    )
    client.until(lambda: got, "an image on the remapped topic")
