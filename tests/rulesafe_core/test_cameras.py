import json

import numpy as np
import pytest

from rulesafe_core.body import fixed_links
from rulesafe_core.cameras import DEFAULT_CAMERAS, CameraSet, load_cameras
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.robot import h1_2
from rulesafe_core.urdf import to_urdf, with_frames
from rulesafe_core.urdf_reader import read_kinematics

WRIST = "{link: R_hand_base_link, xyz_m: [0, 0, 0.1], rpy_rad: [0, 0, 0], fovy_rad: 1.0}"


@pytest.fixture
def load(tmp_path):
    def read(text: str) -> CameraSet:
        (tmp_path / "mine.yaml").write_text(text)
        return load_cameras(tmp_path / "mine.yaml")

    return read


def test_a_file_names_the_cameras_and_missing_keys_are_those_of_the_default_set(load):
    found = load(f"wrist: {WRIST}\nhead: {{fovy_rad: 1.4}}\n")
    assert found.names == ("head", "wrist"), "the default cameras are first"
    head, wrist = found
    assert (head.fovy, head.xyz) == (1.4, DEFAULT_CAMERAS["head"].xyz)
    assert found.depth == head and load(f"wrist: {WRIST}").depth == wrist
    assert found.keys == ("head", "wrist", "points")
    assert (wrist.topic(), wrist.film_topic) == (
        "/camera/wrist/image_raw",
        "/film/wrist/compressed",
    )
    assert load("head:\nfront: {}\n") == DEFAULT_CAMERAS == load_cameras("")


def test_a_set_in_json_is_the_same_set(load):
    found = load(f"wrist: {WRIST}\n")
    assert CameraSet.from_entry(json.loads(json.dumps(found.to_entry())), "about") == found
    assert DEFAULT_CAMERAS.to_entry() == {}, "files with the default cameras are unchanged"
    assert CameraSet.from_entry({}, "about") == DEFAULT_CAMERAS
    assert CameraSet.from_dict(DEFAULT_CAMERAS.to_dict(), "about") == DEFAULT_CAMERAS


def test_the_renderer_is_part_of_the_set(load):
    found = load("renderer: sapien\nhead:\nfront:\n")
    assert found.names == ("head", "front") and found.renderer == "sapien" != load("head:").renderer
    assert found.resized(64).renderer == "sapien"
    assert CameraSet.from_entry(json.loads(json.dumps(found.to_entry())), "about") == found
    assert "renderer" not in load("head:").to_dict(), "files of earlier versions are the same"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "renderer: unreal\nhead:",
            "mine.yaml: unknown renderer 'unreal'; valid: rulesafe, sapien",
        ),
        ("renderer: [sapien]\nhead:", r"mine.yaml: unknown renderer .*; valid: rulesafe, sapien"),
        ("{}", "mine.yaml: a set has one or more cameras .* not none"),
        ("head: 3", "mine.yaml: head must be a mapping"),
        ("back: {width: 64}", "mine.yaml: back: missing xyz_m, rpy_rad, fovy_rad"),
        ("head: {fov: 1}", "mine.yaml: head: unknown fov; valid keys: .*fovy_rad"),
        ("head: {fovy_rad: 4}", "mine.yaml: head.fovy_rad is 4; valid: 0.05 to 3.09"),
        ("head: {name: front}", "mine.yaml: head.name is 'front'; valid: 'head' or no name"),
        (
            "head: {width: 64}\nfront:",
            "the same size, not head, front with the sizes 224x224, 64x224",
        ),
        (f"Wrist 1: {WRIST}", "'Wrist 1' is not the name of a camera; valid: lower-case letters"),
        (f"points: {WRIST}", "'points' is not the name of a camera; .* not all_joint_positions"),
    ],
)
def test_invalid_sets_are_refused(load, text, reason):
    with pytest.raises(RuleSafeError, match=reason):
        load(text)


def test_unknown_cameras_and_links_are_refused(load):
    with pytest.raises(RuleSafeError, match="unknown camera 'wrist'; valid: head, front"):
        DEFAULT_CAMERAS["wrist"]
    frames = load(f"wrist: {WRIST.replace('R_hand_base_link', 'tail')}").frames()
    with pytest.raises(RuleSafeError, match="wrist_camera_optical_frame: unknown link 'tail'"):
        with_frames(to_urdf(h1_2()), frames)


def test_optical_frames_are_links_of_the_robot_and_look_along_the_axis_of_the_camera(load):
    cameras = load(f"wrist: {WRIST}")
    body = read_kinematics(with_frames(to_urdf(h1_2()), cameras.frames()))
    poses = body.link_poses({})
    moved = poses["R_hand_base_link"] @ [0, 0, 0.1, 1]
    np.testing.assert_allclose(poses["wrist_camera_optical_frame"][:, 3], moved)
    np.testing.assert_allclose(
        poses["wrist_camera_optical_frame"][:3, 2], poses["R_hand_base_link"][:3, 0], atol=1e-12
    )


def test_merged_links_keep_their_poses():
    body = h1_2()
    poses = body.link_poses({"right_elbow_joint": 0.3})
    for link, (target, pose) in fixed_links(body).items():
        np.testing.assert_allclose(poses[target] @ pose, poses[link], atol=1e-12)


@pytest.mark.parametrize("size", [(480, 640), (720, 1280), (640, 480), (64, 64), (2, 1000)])
@pytest.mark.parametrize("wide", [(240, 320), (224, 224), (320, 240)])
def test_images_of_any_size_are_fitted_without_distortion(load, size, wide):
    camera = load("head: {{height: {}, width: {}}}".format(*wide))["head"]
    y, x = np.indices(size)
    disc = np.hypot(y - (size[0] - 1) / 2, x - (size[1] - 1) / 2) < 0.3 * min(size)
    found = camera.fit(np.repeat(255 * disc.astype(np.uint8)[..., None], 3, axis=2))
    assert found.shape == camera.shape == (*wide, 3)
    rows, columns = ((found[..., 0] > 127).any(axis=axis).sum() for axis in (1, 0))
    if min(size) > 2:
        assert abs(int(rows) - int(columns)) <= 2 and rows > 0.3 * min(wide)


def test_an_image_of_the_cameras_size_is_unchanged_and_others_must_be_images():
    camera = DEFAULT_CAMERAS["head"]
    image = np.zeros(camera.shape, np.uint8)
    assert camera.fit(image) is image
    for bad in (image[..., 0], image[..., :2], image / 255, image[:0]):
        with pytest.raises(RuleSafeError, match=r"image head must be \(H, W, 3\) uint8, got"):
            camera.fit(bad)
