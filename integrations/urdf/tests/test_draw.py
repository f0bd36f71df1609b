"""Annotated images: marks are drawn at the positions that the data give."""

import numpy as np
import pytest
from PIL import Image

from planner_node.hand import NAMES, operation
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.transforms import apply
from rulesafe_sim.safe_body import safe_body
from rulesafe_sim.safes import load_safe
from rulesafe_urdf import draw, sheets
from rulesafe_urdf.sketch import Sketch
from rulesafe_urdf.views import View, framed

WHITE = np.full((200, 300, 3), 255, np.uint8)
FINGERS = {"thumb_tip": "R_thumb_distal", "index_tip": "R_index_intermediate"}


def colored(image: Image.Image, color) -> np.ndarray:
    """Pixels (N, 2), x and y, of a color."""
    return np.argwhere((np.asarray(image) == color).all(axis=-1))[:, ::-1]


def test_an_arrow_begins_and_ends_where_it_should():
    sketch = Sketch(WHITE, 2.0)
    sketch.arrow([(40, 150), (200, 60)], sheets.BLUE)
    found = colored(sketch.finish(), sheets.BLUE)
    assert np.abs(found.min(axis=0) - (40, 60)).max() < 3
    assert np.abs(found.max(axis=0) - (200, 150)).max() < 4


def test_an_arrow_towards_the_viewer_is_a_dot():
    sketch = Sketch(WHITE, 2.0)
    sketch.arrow([(100, 90), (101, 90)], sheets.BLUE)
    found = colored(sketch.finish(), sheets.BLUE)
    assert np.abs(found.mean(axis=0) - (101, 90)).max() < 1
    assert np.ptp(found, axis=0).max() < 12


def test_labels_cover_neither_each_other_nor_the_marks():
    together = Sketch(WHITE, 2.0)
    marks = {"first": sheets.BLUE, "second": sheets.GREEN, "third": sheets.RED}
    counts = []
    for name, color in marks.items():
        alone = Sketch(WHITE, 2.0)
        alone.dot((150, 100), color, name)
        counts.append(len(colored(alone.finish(), color)))
    for i, (name, color) in enumerate(marks.items()):
        together.dot((150 + 14 * i, 100), color, name)
    picture = together.finish()
    for color, count in zip(marks.values(), counts, strict=True):
        assert len(colored(picture, color)) > 0.9 * count


def test_an_eye_frames_its_points():
    rng = np.random.default_rng(3)
    points = rng.uniform(-0.2, 0.4, (50, 3))
    eye = framed("test", (1.0, 0.4, 0.3), points, 2.0)
    ray = np.subtract(eye.target, eye.at)
    seen = points - np.array(eye.at)
    cosines = seen @ ray / np.linalg.norm(seen, axis=1) / np.linalg.norm(ray)
    assert np.degrees(np.arccos(cosines.min())) == pytest.approx(np.degrees(eye.fovy / 2))


@pytest.mark.parametrize("name", ["safe_01", "safe_06"])
def test_arcs_follow_the_parts_own_motion(name):
    """The arc's end is where the body's kinematics carry its start."""
    safe, body = load_safe(name), safe_body(load_safe(name))
    closed = body.link_poses({})
    for part, data in safe.parts.items():
        axis, arc = sheets.motion(safe, part, closed[part])
        opened = body.link_poses({f"{part}_joint": data.range})[part]
        carried = opened @ np.linalg.inv(closed[part])
        np.testing.assert_allclose(apply(carried, arc[0]), arc[-1], atol=1e-9)
        np.testing.assert_allclose(apply(carried, axis), axis, atol=1e-9)
    point = sheets.motion(safe, "knob", closed["knob"])[0][1]
    np.testing.assert_allclose(point, safe.axis_point("knob"), atol=1e-9)


def link_at(view: View, point) -> str:
    """Return the name of the link visible at a point (3,) of the root frame, "" for none."""
    x, y = np.round(view.project(point)).astype(int)
    height, width = view.links.shape
    return str(view.links[y, x]) if 0 <= x < width and 0 <= y < height else ""


@pytest.mark.parametrize("name", ["pre_pinch", "hook"])
def test_tips_project_onto_their_fingers(name):
    done = operation(name)
    view = sheets.hand_views(done)["seen from the palm's side"]
    for point, link in FINGERS.items():
        assert link_at(view, done.points[point]) == link
    assert link_at(view, done.points["thumb_tip"] + (0, 0, -0.1)) == ""


def test_points_of_the_safe_project_onto_its_parts():
    safe = load_safe("safe_03")
    poses = safe_body(safe).link_poses({})
    near = sheets.safe_views(safe)["knob and handle"]
    for part in ("knob", "handle"):
        for grasp in safe.grasps(part, "turn"):
            assert link_at(near, apply(poses[part], grasp.point)) == part
    assert link_at(near, (0.0, safe.axis_point("knob")[1], 0.0)) == "door"
    assert link_at(near, (0.0, 0.0, 5.0)) == ""


def test_marks_are_painted_where_the_points_project():
    done = operation("pre_pinch")
    view = sheets.hand_views(done)["seen from the palm's side"]
    sheet = np.asarray(sheets.hand_sheet(done))
    size = sheets.SIDE * sheets.FINE
    panel = sheet[-size:, size:]  # the second picture of two, below the legend
    for at in done.points.values():
        x, y = view.project(at).round().astype(int)
        ring = round(1.8 * sheets.LINE)
        assert tuple(panel[y, x]) == (255, 255, 255), "the middle of the mark"
        assert tuple(panel[y, x + ring]) == sheets.VIOLET
    start, end = (view.project(p) for p in sheets.axis_ends(done, "approach"))
    x, y = (0.5 * start + 0.5 * end).round().astype(int)
    assert tuple(panel[y, x]) == sheets.BLUE


def test_the_command_writes_the_figure(tmp_path, capsys):
    out = tmp_path / "figure.jpg"
    assert draw.main(["--safe", "safe_07", "--hand", "grasp", "--out", str(out)]) == 0
    assert capsys.readouterr().out == f"{out}\n"
    with Image.open(out) as image:
        assert image.size[0] == 2 * sheets.SIDE and image.size[1] > 2 * sheets.SIDE
    assert out.stat().st_size > 50_000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "nothing to draw"),
        (["--hand", "wave"], f"unknown hand operation 'wave'; valid: {', '.join(NAMES)}"),
        (["--safe", "safe_99"], "unknown safe 'safe_99'; valid: safe_01"),
    ],
)
def test_what_the_user_can_mend_is_said_in_a_line(arguments, message, capsys):
    assert draw.main(arguments) == 2
    said = capsys.readouterr().err
    assert message in said and said.count("\n") == 1


def test_a_picture_of_another_format_is_refused(tmp_path):
    with pytest.raises(RuleSafeError, match=r"must end in one of .png, .jpg, .webp"):
        draw.save(Image.new("RGB", (4, 4)), tmp_path / "figure.gif")
