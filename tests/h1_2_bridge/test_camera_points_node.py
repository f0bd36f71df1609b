"""The node camera_points, with messages like those of a RealSense driver."""

import subprocess
import sys
from array import array
from itertools import count

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from sensor_msgs.msg import CameraInfo, Image, JointState, PointCloud2
from waiting import wait_for

from rulesafe_core.client_node import ClientNode, connected
from rulesafe_core.convert import IMAGE_QOS, to_header

pytestmark = pytest.mark.ros

WIDTH, HEIGHT, FOCAL = 160, 120, 120.0
PATIENCE = 90.0


class Driver(ClientNode):
    """Publishes images of a wall 1 m ahead and subscribes to the point clouds."""

    def __init__(self) -> None:
        super().__init__("driver")
        self.process: subprocess.Popen | None = None  # the node
        self.clouds: list[PointCloud2] = []
        self.depth = np.full((HEIGHT, WIDTH), 1000, "<u2")
        names = ("camera_info", "image_raw", "depth/image_raw")
        kinds = (CameraInfo, Image, Image)
        self.topics = {
            name: self.create_publisher(kind, f"/camera/head/{name}", IMAGE_QOS)
            for name, kind in zip(names, kinds, strict=True)
        }
        self.joints = self.create_publisher(JointState, "/joint_states", 10)
        self.create_subscription(PointCloud2, "/camera/points", self.clouds.append, IMAGE_QOS)

    def send(self, stamp: int, colour_late: int = 0, waist: float | None = 0.0) -> None:
        """Send one frame; times in ns. Without a waist position (rad) it has no joint state."""
        header = to_header(stamp, "camera_color_optical_frame")
        if waist is not None:
            names, positions = ["torso_joint", "left_knee_joint"], [waist, 1.0]
            self.joints.publish(JointState(header=header, name=names, position=positions))
        k = [FOCAL, 0.0, WIDTH / 2 - 0.5, 0.0, FOCAL, HEIGHT / 2 - 0.5, 0.0, 0.0, 1.0]
        info = CameraInfo(header=header, width=WIDTH, height=HEIGHT, k=k, d=[0.0] * 5)
        self.topics["camera_info"].publish(info)
        shape = {"height": HEIGHT, "width": WIDTH}
        depth = Image(header=header, encoding="16UC1", step=2 * WIDTH, **shape)
        depth.data = array("B", self.depth.tobytes())
        self.topics["depth/image_raw"].publish(depth)
        header = to_header(stamp + colour_late, "camera_color_optical_frame")
        colour = Image(header=header, encoding="bgr8", step=3 * WIDTH, **shape)
        colour.data = array("B", np.tile(np.uint8([0, 0, 255]), WIDTH * HEIGHT).tobytes())
        self.topics["image_raw"].publish(colour)


PARAMETERS = (
    *("link:=torso_link", "xyz:=[0.0, 0.0, 0.3]", "rpy:=[0.0, 0.0, 0.0]", "near:=0.2"),
    *("workspace_low:=[0.5, -0.3, -0.3]", "workspace_high:=[1.5, 0.3, 0.9]", "rate:=10.0"),
)


def start_node(driver: Driver) -> None:
    """Start the node, and wait until it subscribes to the images."""
    arguments = [part for p in PARAMETERS for part in ("-p", p)]
    process = subprocess.Popen(
        [sys.executable, "-m", "h1_2_bridge.camera_points_node", "--ros-args", *arguments]
    )
    driver.process = process
    topics = driver.topics.values()
    wait_for(lambda: process.poll() or all(topic.get_subscription_count() for topic in topics))
    assert process.poll() is None


@pytest.fixture
def driver():
    with connected(Driver) as node:
        try:
            start_node(node)
            yield node
            node.process.terminate()
            assert node.process.wait(PATIENCE) == 143
        finally:
            if node.process:
                node.process.kill()
                node.process.wait()


def first_cloud(driver, **how):
    """Send frames at 30 Hz until a cloud arrives; return its points (1024, 3) and colours."""
    stamps = count(10**18, 33_333_333)
    driver.clouds.clear()

    def send() -> None:
        driver.send(next(stamps), **how)
        driver.spin_for(0.033)

    wait_for(lambda: driver.clouds, "a cloud", send)
    cloud = np.frombuffer(driver.clouds[0].data, np.float32).reshape(-1, 4)
    return cloud[:, :3], cloud[:, 3].view(np.uint32)


def test_a_red_wall_in_the_pelvis_frame(driver):
    points, colours = first_cloud(driver)
    message = driver.clouds[0]
    assert (message.header.frame_id, message.width, message.height) == ("pelvis", 1024, 1)
    np.testing.assert_allclose(points[:, 0], 1.0, atol=1e-5)
    assert (colours == 0xFF0000).all()
    assert np.abs(points[:, 1]).max() <= 0.3  # the workspace
    assert points[:, 1].max() > 0.28 and points[:, 1].min() < -0.28


def test_the_waist_turns_the_wall(driver):
    """Also in the first cloud: without a joint state the camera's pose is unknown."""
    for i in range(30):
        driver.send(10**17 + i * 10**8, waist=None)
        driver.spin_for(0.02)
    points, _ = first_cloud(driver, waist=0.3)
    distance = points[:, 0] * np.cos(0.3) + points[:, 1] * np.sin(0.3)
    np.testing.assert_allclose(distance, 1.0, atol=1e-4)


def test_a_restarted_node_publishes_clouds(driver):
    first, _ = first_cloud(driver, waist=0.3)
    driver.process.kill()
    driver.process.wait()
    for _ in range(5):  # clouds that were on their way
        driver.spin_for(0.1)
    start_node(driver)
    again, _ = first_cloud(driver, waist=0.3)
    distances = [points @ np.array([np.cos(0.3), np.sin(0.3), 0]) for points in (first, again)]
    np.testing.assert_allclose(distances, 1.0, atol=1e-4)


def test_ten_clouds_a_second_of_thirty_frames(driver):
    first_cloud(driver)
    driver.clouds.clear()
    for i in range(60):
        driver.send(1_200 * 10**15 + i * 33_333_333)
        for _ in range(5):
            driver.spin_for(0.02)
    stamps = [m.header.stamp.sec * 10**9 + m.header.stamp.nanosec for m in driver.clouds]
    stamps = [stamp for stamp in stamps if stamp >= 1_200 * 10**15]
    assert len(stamps) > 3
    assert min(np.diff(stamps)) > 0.09e9
    assert len(stamps) <= 21


def test_colour_of_another_time_is_not_taken(driver):
    first_cloud(driver)
    driver.clouds.clear()
    for i in range(30):
        driver.send(1_300 * 10**15 + i * 10**9, colour_late=5 * 10**8)
        driver.spin_for(0.02)
    # Then several frames with matching stamps, because a single one may be lost.
    stamps = count(1_400 * 10**15, 10**9)

    def send() -> None:
        driver.send(next(stamps))
        driver.spin_for(0.1)

    wait_for(lambda: any(m.header.stamp.sec >= 1.4e9 for m in driver.clouds), "a cloud", send)
    assert not any(1.3e9 <= m.header.stamp.sec < 1.4e9 for m in driver.clouds)
