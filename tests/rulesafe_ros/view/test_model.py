"""Tests of the page's sections, computed from messages."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from rulesafe_core.cameras import DEFAULT_CAMERAS
from rulesafe_core.chunks import PERIOD, SECOND, make_chunk
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_INDICES, ACTION_JOINTS, ALL_JOINTS
from rulesafe_core.robot import HOME, h1_2
from rulesafe_core.transforms import to_quat_wxyz
from rulesafe_core.urdf import to_urdf
from rulesafe_data.films.strip import Tokens
from rulesafe_ros.view.board import Board
from rulesafe_ros.view.model import HISTORY_LENGTH, JOINT_NAMES, ViewModel, choices
from rulesafe_ros.view.options import ViewOptions
from rulesafe_ros.view.sources import IMAGE, Offer, SubscriptionRequest, choose, sources
from rulesafe_sim.bodies import placement_pose
from rulesafe_sim.config import Placement
from rulesafe_sim.safes import load_safe
from rulesafe_sim.simulation import HOME_ACTION
from rulesafe_sim.stand import FLOOR_Z, safe_on_stand
from teleop_node.keys import HELP_TEXT
from vq_memory_node.memory import Reading

ROOT = Path(__file__).parents[3]
LAYOUT = ROOT / "config/foxglove_layout.json"
PLACE = Placement((0.55, -0.15, 0.05), 0.1)
POSITIONS = dict.fromkeys(ALL_JOINTS, 0.0) | dict(HOME)


@pytest.fixture
def board():
    return Board()


@pytest.fixture
def model(board):
    return ViewModel(board)


def status(**parts):
    """Return a section `status` of a safe at the position PLACE with these part positions, rad."""
    pose = placement_pose(PLACE)
    w, x, y, z = to_quat_wxyz(pose)
    return {
        "safe_position": pose[:3, 3].tolist(),
        "safe_quat_xyzw": [x, y, z, w],
        "parts": [{"name": name, "position": position} for name, position in parts.items()],
    }


# The board ------------------------------------------------------------------------------------


def test_a_page_receives_each_section_once_and_the_newest(board):
    board.put("a", 1)
    board.put("b", {"x": 2})
    version, news = board.changes(0)
    assert [json.loads(message) for message in news] == [
        {"name": "a", "value": 1},
        {"name": "b", "value": {"x": 2}},
    ]
    board.put("a", 1)  # unchanged
    assert board.changes(version) == (version, [])
    board.put("a", 3)
    board.put("a", 4)
    board.put_bytes("front_image", b"jpeg")
    _, news = board.changes(version)
    assert news == ['{"name": "a", "value": 4}', b"\x0bfront_imagejpeg"]


# Episodes -------------------------------------------------------------------------------------


def test_history_is_at_10_hz_from_the_start_of_the_episode(board, model):
    model.started(3 * SECOND)
    for tick in range(101):
        model.joints(3 * SECOND + tick * PERIOD // 10, POSITIONS)
    rows = model.history()["rows"]
    assert [row[0] for row in rows] == pytest.approx(np.arange(11) / 10)
    assert rows[0][1:14] == pytest.approx(HOME_ACTION, abs=1e-4)
    assert rows[0][14:] == [None] * 13
    assert board.get("joints")["time"] == 1.0


def test_history_contains_the_targets_of_the_chunk(model):
    model.started(0)
    model.joints(0, POSITIONS)
    rows = np.repeat(np.arange(1, 6.0)[:, None], 13, axis=1)
    model.chunk(make_chunk(ACTION_JOINTS, rows, 0))
    for tick in range(1, 8):
        model.joints(tick * PERIOD, POSITIONS)
    asked = [row[14] for row in model.history()["rows"]]
    assert asked == [None, 1, 2, 3, 4, 5, None, None]


@pytest.mark.parametrize("how", ["reset", "restart of the simulation", "no word of episodes"])
def test_a_restart_resets_the_history(board, model, how):
    if how != "no word of episodes":
        model.started(PERIOD)
    for stamp in range(PERIOD, 20 * PERIOD, PERIOD):
        model.joints(stamp, POSITIONS)
    assert len(model.history()["rows"]) == 19
    if how == "reset":
        model.started(30 * PERIOD)
        begun = 30 * PERIOD
    else:
        begun = PERIOD
        model.started(PERIOD) if how != "no word of episodes" else None  # the same stamp again
    model.joints(begun, POSITIONS)
    assert [row[0] for row in model.history()["rows"]] == [0]
    assert board.get("chunk") is None


def test_history_does_not_grow_without_end(model):
    for i in range(HISTORY_LENGTH + 50):
        model.joints(i * PERIOD, POSITIONS)
    rows = model.history()["rows"]
    assert len(rows) == HISTORY_LENGTH and rows[-1][0] == pytest.approx((HISTORY_LENGTH + 49) / 10)


def test_joint_positions_that_are_not_finite_are_skipped(board, model):
    """A robot's driver may send NaN, which JSON does not support."""
    model.joints(0, POSITIONS | {ACTION_JOINTS[3]: float("nan")})
    assert ACTION_JOINTS[3] not in board.get("joints")["positions"]
    assert model.history()["rows"] == []


def test_tokens_carry_the_films_colours(board, model):
    reading = Reading(np.array([0, 2, 1]), np.array([False, True, True]))
    model.tokens(Tokens(reading.values, reading.mask, 4, 2.0), "abc")
    shown = board.get("tokens")
    assert shown["values"] == [0, 2, 1] and shown["mask"] == [False, True, True]
    assert shown["colours"] == ["#0072b2", "#009e73", "#e69f00"]


def test_the_status_of_teleoperation_is_shown_with_the_keys(board, model):
    model.notice([("teleop_node", "ok", "assisted: turn 15 deg")])
    assert board.get("teleoperation") == {"status": "assisted: turn 15 deg", "keys": HELP_TEXT}
    assert board.get("notices") == []
    model.started(5)  # of an episode that may have no teleop_node
    assert board.get("teleoperation") is None


def test_the_level_ok_removes_a_notice(board, model):
    model.notice([("policy", "error", "gives up"), ("memory", "ok", "")])
    assert [notice["name"] for notice in board.get("notices")] == ["policy"]
    model.notice([("policy", "ok", "goes on")])
    assert board.get("notices") == []


def test_the_page_offers_the_twenty_rules_and_the_ten_safes():
    offered = choices(exposed=True)
    assert len(offered["rules"]) == 20 and len(offered["safes"]) == 10
    assert len(offered["joints"]) == 13 and offered["token"] is True


# 3D view -------------------------------------------------------------------------------------


def test_a_robot_with_meshes_is_drawn_in_primitives(board, model):
    urdf = to_urdf(h1_2())
    model.robot(urdf)
    assert board.get("robot") == urdf
    model.robot(re.sub("<box [^>]*/>", '<mesh filename="package://h1/a.stl"/>', urdf, count=1))
    assert board.get("robot") == urdf


def test_the_support_reaches_from_the_floor_to_the_safe():
    body = safe_on_stand(load_safe("safe_01"), placement_pose(PLACE))
    stand = body.links[-1]
    low = min(shape.pose[2, 3] - shape.size[2] / 2 for shape in stand.shapes)
    assert low + placement_pose(PLACE)[2, 3] == pytest.approx(FLOOR_Z)


def test_an_invalid_description_is_an_error(model):
    for show in (model.robot, model.safe):
        with pytest.raises(RuleSafeError, match="not a valid URDF"):
            show("<robot")


# Subscriptions ---------------------------------------------------------------------------------


def test_larger_images_and_the_qos_of_publishers():
    (head,) = (source for source in sources(DEFAULT_CAMERAS) if source.name == "head_image")
    film, camera = head.topics
    raw = [Offer(IMAGE, reliable=True, latched=False)]
    assert choose(head, {film: [], camera: []}) is None
    assert choose(head, {film: [], camera: raw}) == SubscriptionRequest(camera, IMAGE, True, False)
    jpeg = [Offer("sensor_msgs/msg/CompressedImage", True, False)]
    assert choose(head, {film: jpeg, camera: raw}).topic == film
    driver = [*raw, Offer(IMAGE, reliable=False, latched=False)]
    assert choose(head, {film: [], camera: driver}) == SubscriptionRequest(
        camera, IMAGE, False, False
    )
    depth = [Offer("sensor_msgs/msg/PointCloud2", True, False)]
    assert choose(head, {film: depth, camera: raw}).topic == camera


def test_the_cameras_of_a_file(tmp_path):
    path = tmp_path / "cameras.yaml"
    path.write_text("front:\nwrist: {xyz_m: [0, 0, 0], rpy_rad: [0, 0, 0], fovy_rad: 1.2}\n")
    cameras = ViewOptions(camera_file=str(path)).cameras
    (front, wrist, points, *_) = sources(cameras)
    assert front.topics == ("/film/front/compressed", "/camera/front/image_raw")
    assert wrist.topics == ("/film/wrist/compressed", "/camera/wrist/image_raw")
    assert (wrist.name, points.name) == ("wrist_image", "points")
    shown = choices(exposed=False, cameras=cameras)["cameras"]
    assert shown == {"front_image": "front", "wrist_image": "wrist"}


# Foxglove's layout ------------------------------------------------------------------------------


def test_the_layout_plots_each_joint_by_its_index():
    labels = {}

    def collect(found: dict) -> dict:
        if "label" in found and "value" in found:
            labels[found["value"]] = found["label"]
        return found

    json.loads(LAYOUT.read_text(), object_hook=collect)
    for i, (index, name) in enumerate(zip(ACTION_INDICES, JOINT_NAMES, strict=True)):
        assert labels[f"/joint_states.position[{index}]"] == name
        assert labels[f"/policy/action_chunk.points[-1].positions[{i}]"] == f"{name}, asked"


def test_the_layout_shows_topics_of_the_graph():
    topics = (ROOT / "docs/reference/topics.md").read_text()
    shown = set(re.findall(r'"(/[a-z_/]+)', LAYOUT.read_text()))
    assert "/memory/tokens" in shown
    assert [topic for topic in shown if f"`{topic}`" not in topics] == []
