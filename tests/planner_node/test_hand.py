"""The hand's annotations against the robot's kinematics and shapes."""

import coal
import numpy as np
import pytest
import yaml

from planner_node import hand
from planner_node.hand import NAMES, OPERATIONS, operation, read_operations
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import HAND_JOINTS
from rulesafe_core.robot import h1_2
from rulesafe_core.transforms import Transform, apply, inverse

ROBOT = h1_2()
LINKS = {link.name: link for link in ROBOT.links}
LAST = {
    finger: f"R_{finger}_{'distal' if finger == 'thumb' else 'intermediate'}"
    for finger in ("thumb", "index", "middle", "ring", "pinky")
}
"""Last link of each finger."""

FINGERS = ("index", "middle", "ring", "pinky")


def link_poses(joints) -> dict[str, Transform]:
    """Poses of the hand's links in its base frame."""
    poses = ROBOT.link_poses(dict(zip(HAND_JOINTS, joints, strict=True)))
    base = inverse(poses["R_hand_base_link"])
    return {name: base @ pose for name, pose in poses.items() if name.startswith("R_")}


def tip_of(joints, finger: str):
    """Middle of the round end of a finger's last capsule, and its radius (m)."""
    pose, (capsule,) = link_poses(joints)[LAST[finger]], LINKS[LAST[finger]].shapes
    radius, length = capsule.size
    ends = [apply(pose @ capsule.pose, (0, 0, z)) for z in (-length / 2, length / 2)]
    return max(ends, key=lambda end: np.linalg.norm(end - pose[:3, 3])), radius


def gap(joints) -> float:
    """Room between the tips of thumb and index finger (m)."""
    (thumb, thumb_radius), (index, index_radius) = (tip_of(joints, f) for f in ("thumb", "index"))
    return float(np.linalg.norm(thumb - index)) - thumb_radius - index_radius


def bar_distance(joints, middle, radius: float, link: str) -> float:
    """Room (m) between a link and a bar through `middle` along the hand's z axis."""
    bar = coal.Capsule(radius, 0.12)
    at = coal.Transform3s(np.eye(3), np.asarray(middle, float))
    pose = link_poses(joints)[link]
    return min(
        coal.distance(_coal(shape), _place(pose @ shape.pose), bar, at, *_ask())
        for shape in LINKS[link].shapes
        if shape.collides
    )


def _coal(shape):
    return coal.Box(*shape.size) if shape.kind == "box" else coal.Capsule(*shape.size)


def _place(pose: Transform):
    return coal.Transform3s(pose[:3, :3], pose[:3, 3])


def _ask():
    return coal.DistanceRequest(), coal.DistanceResult()


def test_all_operations_are_there():
    assert tuple(OPERATIONS) == NAMES
    assert {"pre_pinch", "pinch", "release", "pre_grasp", "grasp", "open"} <= set(NAMES)
    with pytest.raises(RuleSafeError, match="unknown hand operation 'punch'; valid: open, pre_pin"):
        operation("punch")


@pytest.mark.parametrize("name", NAMES)
def test_axes_are_a_right_handed_frame_and_joints_within_limits(name):
    axes = np.array(list(operation(name).axes.values()))
    np.testing.assert_allclose(axes @ axes.T, np.eye(3), atol=1e-12)
    assert np.linalg.det(axes) == pytest.approx(1.0)
    for joint, position in zip(HAND_JOINTS, operation(name).joints, strict=True):
        assert ROBOT.joint(joint).lower <= position <= ROBOT.joint(joint).upper


@pytest.mark.parametrize("name", NAMES)
def test_tips_are_where_the_kinematics_put_them(name):
    done = operation(name)
    tips = {key.removesuffix("_tip"): at for key, at in done.points.items() if "_tip" in key}
    assert {"thumb", "index"} <= set(tips)
    for finger, at in tips.items():
        np.testing.assert_allclose(at, tip_of(done.joints, finger)[0], atol=1e-4)


def test_the_pinch_is_what_was_measured():
    """Figures that the expert's success was measured with."""
    np.testing.assert_array_equal(hand.PRE_PINCH, [1.4, 1.4, 1.4, 0.4, 0.0, 1.174])
    np.testing.assert_array_equal(hand.PINCH, [1.4, 1.4, 1.4, 0.9, 0.26, 1.174])
    np.testing.assert_array_equal(
        hand.RELEASE, hand.PRE_PINCH + 0.45 * (hand.PINCH - hand.PRE_PINCH)
    )
    np.testing.assert_array_equal(hand.PINCH_POINT, [-0.068, -0.154, -0.0267])
    bend = np.radians(30)
    np.testing.assert_array_equal(hand.HAND_AXES[:, 0], [-np.cos(bend), -np.sin(bend), 0])
    np.testing.assert_array_equal(hand.HAND_AXES[:, 1], [-np.sin(bend), np.cos(bend), 0])


@pytest.mark.parametrize("thickness", [0.020, 0.027])
def test_thumb_and_index_close_on_the_pinch_point_along_the_closing_axis(thickness):
    """With the tips as far apart as the part is thick: the point lies between them, on the line
    that joins them, and the axis leads from index finger to thumb."""
    way = np.linspace(0, 1, 201)[:, None]
    closing = hand.PRE_PINCH + way * (hand.PINCH - hand.PRE_PINCH)
    joints = closing[np.argmin([abs(gap(row) - thickness) for row in closing])]
    thumb, index = (tip_of(joints, finger)[0] for finger in ("thumb", "index"))
    across = thumb - index
    share = (hand.PINCH_POINT - index) @ across / (across @ across)
    assert 0.2 < share < 0.8
    assert np.linalg.norm(hand.PINCH_POINT - index - share * across) < 0.003
    assert across @ hand.HAND_AXES[:, 1] > np.cos(np.radians(6)) * np.linalg.norm(across)


def test_the_pinch_opens_and_closes_in_order():
    gaps = [gap(operation(name).joints) for name in ("pre_pinch", "release", "pinch")]
    assert gaps[0] > 0.08 and 0.035 < gaps[1] < gaps[0]
    assert -0.01 < gaps[2] < 0, "with nothing between them the tips press on each other"


@pytest.mark.parametrize("finger", FINGERS)
def test_the_grasped_bar_touches_palm_and_both_links_of_each_finger(finger):
    bar = operation("grasp").points["bar"]
    touching = np.array([1.26] * 4 + [0.0, 1.174])  # where a bar of 10 mm radius stops the fingers
    links = ("R_hand_base_link", f"R_{finger}_proximal", LAST[finger])
    assert all(abs(bar_distance(touching, bar, 0.01, link)) < 0.0025 for link in links)
    pressing = bar_distance(operation("grasp").joints, bar, 0.01, LAST[finger])
    assert pressing < -0.002, "the commanded posture presses"


def test_the_closing_fingers_of_the_grasp_sweep_45_mm_beyond_the_bar():
    start, end = operation("pre_grasp").joints, operation("grasp").joints
    tips = [
        (tip_of(start + share * (end - start), finger), operation("grasp").points["bar"])
        for share in np.linspace(0, 1, 45)
        for finger in FINGERS
    ]
    sweep = max(bar[0] - (tip[0] - radius) for (tip, radius), bar in tips)
    assert sweep == pytest.approx(0.045, abs=0.001)


def test_a_bar_comes_into_the_open_grasp_with_room_on_all_sides():
    before = operation("pre_grasp")
    links = [name for name in LINKS if name.startswith("R_") and LINKS[name].shapes]
    moving = [name for name in links if name != "R_hand_base_link"]

    def room(approach) -> float:
        ways = (before.points["bar"] + s * approach for s in np.linspace(0.004, 0.1, 13))
        return min(bar_distance(before.joints, at, 0.01, link) for at in ways for link in moving)

    assert room(before.axes["approach"]) > 0.012
    assert room(np.array([-1.0, 0.0, 0.0])) < 0, "straight out of the palm the thumb is in the way"


def test_the_closing_axis_of_the_grasp_is_the_way_of_the_finger_tips():
    start, end = operation("pre_grasp"), operation("grasp")
    for finger in FINGERS:
        way = tip_of(end.joints, finger)[0] - tip_of(start.joints, finger)[0]
        assert way @ end.axes["closing"] > 0.9 * np.linalg.norm(way)


def test_the_thumb_of_the_grasp_meets_the_index_finger_and_not_the_bar():
    done = operation("grasp")
    thumb_links = ("R_thumb_proximal", "R_thumb_intermediate", "R_thumb_distal")
    assert all(
        bar_distance(done.joints, done.points["bar"], 0.01, link) > 0.01 for link in thumb_links
    )
    poses = link_poses(done.joints)
    distance = min(
        coal.distance(
            _coal(a),
            _place(poses[first] @ a.pose),
            _coal(b),
            _place(poses[other] @ b.pose),
            *_ask(),
        )
        for first in thumb_links
        for other in ("R_index_proximal", LAST["index"])
        for a in LINKS[first].shapes
        for b in LINKS[other].shapes
        if a.collides and b.collides
    )
    assert -0.003 < distance < 0


def test_a_bar_comes_into_the_hook_and_is_held_against_the_pull():
    done = operation("hook")
    bar, approach = done.points["bar"], done.axes["approach"]
    fingers = [link for f in FINGERS for link in (f"R_{f}_proximal", LAST[f])]
    for finger in FINGERS:
        assert abs(bar_distance(done.joints, bar, 0.01, LAST[finger])) < 0.0015
    for distance in np.linspace(0.01, 0.07, 7):  # the hand draws back: the bar comes the other way
        at = bar + distance * approach
        assert min(bar_distance(done.joints, at, 0.01, link) for link in fingers) > -0.001
    pulled = bar - 0.006 * done.axes["pull"]
    assert all(bar_distance(done.joints, pulled, 0.01, LAST[f]) < -0.002 for f in FINGERS)


def broken(tmp_path, **changes):
    """hand.yaml with changes to its pinch."""
    data = yaml.safe_load((hand.resources.files("planner_node") / "data/hand.yaml").read_text())
    data["operations"]["pinch"].update(changes)
    path = tmp_path / "hand.yaml"
    path.write_text(yaml.safe_dump(data))
    return path


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"points_m": {}}, "operations.pinch.points_m is empty"),
        ({"points_m": {"a": [1, 2]}}, "points_m.a is .* valid: a list of 3 numbers"),
        (
            {"force": 3},
            "operations.pinch: unknown force; valid keys: about, joints, points_m, axes",
        ),
        ({"axes": {"a": [1, 0, 0]}}, "operations.pinch: axes must be three unit vectors"),
        (
            {"axes": {"a": [1, 0, 0], "b": [0, 1, 0], "c": [0, 0, -1]}},
            "axes: c must be the cross product a x b",
        ),
    ],
)
def test_errors_name_operation_and_key(tmp_path, changes, message):
    with pytest.raises(RuleSafeError, match=message):
        read_operations(broken(tmp_path, **changes))


def test_a_joint_beyond_its_limit_is_refused(tmp_path):
    path = broken(tmp_path)
    path.write_text(
        path.read_text().replace("thumb_proximal_pitch_rad: 0.26", "thumb_proximal_pitch_rad: 0.7")
    )
    with pytest.raises(
        RuleSafeError,
        match=r"pinch.joints.thumb_proximal_pitch_rad is 0.7; valid: -0.1 to 0.6 rad",
    ):
        read_operations(path)


def test_the_shared_arrays_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        hand.PINCH[0] = 0.0
