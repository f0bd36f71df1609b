"""The safe frame: hand motions relative to a safe transfer to other poses of the safe."""

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from policy_node.checkpoints import Checkpoint, read_policy, save_policy
from policy_node.configs import EncoderConfig
from policy_node.families import make_network
from policy_node.network_policy import NetworkPolicy
from policy_node.normaliser import Actions, Scaling
from policy_node.policy import CHUNK, Observation
from policy_node.safe_frame import ArmChain, SafeFrame
from policy_node.scene_encoder import SceneEncoder
from policy_node.train_config import TrainConfig
from policy_node.training_data import ObservationWindows
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS, ALL_JOINTS, ARM_JOINTS
from rulesafe_core.robot import h1_2
from rulesafe_core.transforms import about_axis
from rulesafe_data.layout import ACTION, STATE
from rulesafe_data.store import EpisodeStore
from vq_memory_node.memory import Reading

ARM = len(ARM_JOINTS)
ACTION_INDICES = [ALL_JOINTS.index(joint) for joint in ACTION_JOINTS]
FRAME = SafeFrame(0.60, -0.30, 0.28, -0.17)
ELSEWHERE = np.array([0.64, -0.27, 0.25, -0.05])
LIMITS = [h1_2().joint(name) for name in ARM_JOINTS]
AT_WORK = np.array([-0.7, -1.05, 1.0, 0.0, -1.85, 0.06, -0.3])  # near the knob


def postures(count, seed=0, off=0.15):
    """Return joints (count, 13) with the hand in front of the robot."""
    rng = np.random.default_rng(seed)
    arm = AT_WORK + rng.uniform(-off, off, (count, ARM))
    return np.hstack([arm, rng.random((count, 6))]).astype(np.float32)


@pytest.fixture(scope="module")
def arm():
    return ArmChain()


def test_the_arm_is_the_planners(arm):
    planner = pytest.importorskip("planner_node.kinematics").Arm()
    some = postures(20, off=1.0)[:, :ARM].astype(float)
    turns, places, jacobians = arm.hand_pose(some)
    for row, turn, place, jacobian in zip(some, turns, places, jacobians, strict=True):
        pose = planner.hand_pose(row)
        np.testing.assert_allclose(turn, pose[:3, :3], atol=1e-9)
        np.testing.assert_allclose(place, pose[:3, 3], atol=1e-9)
        np.testing.assert_allclose(jacobian, planner.differentiate(row)[1], atol=1e-9)


def test_the_hand_is_held_alike_about_the_safe(arm):
    some = postures(200)
    inside = FRAME.to_canonical(some, ELSEWHERE)
    np.testing.assert_array_equal(inside[:, ARM:], some[:, ARM:])
    turn, place, _ = arm.hand_pose(some[:, :ARM].astype(float))
    turned, placed, _ = arm.hand_pose(inside[:, :ARM].astype(float))
    motion = about_axis((0, 0, 1), FRAME.yaw - ELSEWHERE[3], ELSEWHERE[:3])
    motion[:3, 3] += FRAME.pose[:3] - ELSEWHERE[:3]
    np.testing.assert_allclose(placed, place @ motion[:3, :3].T + motion[:3, 3], atol=1e-4)
    np.testing.assert_allclose(turned, motion[:3, :3] @ turn, atol=1e-4)


def test_what_has_entered_leaves_as_it_was(arm):
    some = postures(200)
    back = FRAME.from_canonical(FRAME.to_canonical(some, ELSEWHERE), ELSEWHERE)
    _, before, _ = arm.hand_pose(some[:, :ARM].astype(float))
    _, after, _ = arm.hand_pose(back[:, :ARM].astype(float))
    np.testing.assert_allclose(after, before, atol=1e-4)
    assert np.abs(back - some).max() < 0.05  # the elbow may move a little
    np.testing.assert_allclose(FRAME.to_canonical(some, FRAME.pose), some, atol=1e-6)


def test_no_joint_leaves_beyond_its_ends(arm):
    lower, upper = np.array([(joint.lower, joint.upper) for joint in LIMITS]).T
    inside = FRAME.to_canonical(postures(200, off=0.5), ELSEWHERE)
    inside[:50, 5] = upper[5] + 0.3
    rows = FRAME.from_canonical(inside, ELSEWHERE)[:, :ARM]
    assert (rows >= lower).all() and (rows <= upper).all()
    assert np.abs(np.diff(rows, axis=0)).max() < 3.0 and np.isfinite(rows).all()


class FixedPoseEncoder(SceneEncoder):
    """Estimates the safe's position as a cloud's first point, and its yaw as that point's red."""

    def forward(self, points):
        seen = super().forward(0 * points)
        first = points[..., 0, :4]
        return torch.cat([(first - self.middle[:4]) / self.spread[:4], seen[..., 4:]], dim=-1)


@pytest.fixture
def encoder():
    torch.manual_seed(0)
    made = FixedPoseEncoder(EncoderConfig(("safe_01",), 32, (8, 16), 8)).requires_grad_(False)
    made.middle[:4] = torch.tensor([0.6, -0.3, 0.3, 0.0])
    made.spread[:4] = torch.tensor([0.03, 0.04, 0.05, 0.1])
    return made


@pytest.fixture
def windows(demos, cache, small, memories, encoder):
    def make(memory="none", **settings):
        config = replace(small, encoder=encoder.config)
        train = TrainConfig(**settings)
        return ObservationWindows(
            EpisodeStore(demos), [0, 2], config, memories[memory], train, cache, encoder=encoder
        )

    return make


def test_windows_show_every_safe_at_one_place(windows, demos, encoder):
    plain, framed = windows(safe_frame=False), windows()
    assert plain.normaliser.frame is None
    frame, store = framed.normaliser.frame, EpisodeStore(demos)
    seen = [encoder.poses(plain.batch(rows).scene_features[:, -1].numpy()) for rows in parts()]
    np.testing.assert_allclose(frame.pose, np.mean([s.mean(0) for s in seen], axis=0), atol=1e-5)
    for episode, rows, places in zip((0, 2), parts(), seen, strict=True):
        batch, found = framed.batch(rows), store.episode(episode, [STATE, ACTION])
        now = framed.normaliser.joints.decode(batch.joints[:, -1].numpy())
        expected = frame.to_canonical(np.float32(found[STATE]), places.mean(0))
        np.testing.assert_allclose(now, expected, atol=1e-4)
        chunk = framed.normaliser.actions.decode(batch.actions[:, -CHUNK:].numpy(), now)
        expected = frame.to_canonical(np.float32(found[ACTION]), places.mean(0))
        np.testing.assert_allclose(chunk[:, 0], expected, atol=1e-4)
        there = encoder.poses(batch.scene_features[:, -1].numpy())
        np.testing.assert_allclose(there, np.tile(frame.pose, (len(there), 1)), atol=1e-5)


def parts():
    return np.arange(70), np.arange(70, 160)


def test_tokens_are_those_of_the_robot_itself_and_raw_rows_are_not(windows):
    rows = np.array([30, 150])
    plain, framed = windows("vq", safe_frame=False), windows("vq")
    assert torch.equal(plain.batch(rows).memory, framed.batch(rows).memory)
    framed = windows("raw")
    batch = framed.batch(rows)
    assert torch.equal(batch.memory[:, -1], batch.joints[:, -1])


def test_a_memory_of_the_robots_frame_is_not_transformed(windows, demos, memories, policy):
    data, rows = windows("robot_frame"), np.array([30, 150])
    batch, store = data.batch(rows), EpisodeStore(demos)
    now = [store.episode(at, [STATE])[STATE][row] for at, row in zip((0, 2), (30, 80), strict=True)]
    seen = data.normaliser.joints.decode(batch.memory[:, -1].numpy())
    np.testing.assert_allclose(seen, now, atol=1e-5)
    assert not torch.allclose(batch.memory[:, -1], batch.joints[:, -1], atol=1e-3)
    noisy = data.batch(rows, np.random.default_rng(0))
    offset = noisy.joints[:, -1] - batch.joints[:, -1]
    torch.testing.assert_close(noisy.memory[:, -1] - batch.memory[:, -1], offset)
    past = postures(6, 2)
    seen = shown(policy, ELSEWHERE, postures(policy.needs.frames, 1), past)
    policy.memory = memories["robot_frame"]
    memory = policy._batch(seen)[0].memory[0].numpy()
    measured = FRAME.from_canonical(past, ELSEWHERE)
    expected = policy.checkpoint.normaliser.joints.encode(measured)
    np.testing.assert_allclose(memory, expected, atol=1e-5)


def test_without_a_scene_encoder_there_is_no_such_frame(demos, cache, small, memories, encoder):
    common = (EpisodeStore(demos), [0], small, memories["none"])
    assert ObservationWindows(*common, TrainConfig(), cache).normaliser.frame is None
    for scene_encoder, settings in ((None, {}), (encoder, {"points_jitter": 0.01})):
        with pytest.raises(RuleSafeError, match=r"safe_frame is True.*scene encoder"):
            ObservationWindows(
                *common, TrainConfig(safe_frame=True, **settings), cache, encoder=scene_encoder
            )


@pytest.fixture
def policy(windows, small, memories, encoder):
    config = replace(small, encoder=encoder.config)
    torch.manual_seed(1)
    network = make_network("dp3", config, memories["raw"].shape)
    rows = np.zeros((config.past + CHUNK, len(ACTION_JOINTS)), np.float32)
    actions = Actions("relative", Scaling(rows, rows + 0.05))  # within the arm's reach
    normaliser = replace(windows("raw").normaliser, actions=actions, frame=FRAME)
    data = ("dp3", "tiny", config, memories["raw"], normaliser, network.state_dict())
    made = NetworkPolicy(Checkpoint(*data))
    made._scene_encoder = made._network.cloud = encoder
    return made


def shown(policy, place, joints, past):
    """Return an observation with the safe at a pose and the robot at the same relative posture."""
    cloud = np.zeros((policy.needs.cloud_frames, policy.needs.points, 6), np.float32)
    cloud[..., 0, :4] = place
    memory = Reading(FRAME.from_canonical(past, place), np.ones(len(past), bool))
    return Observation(FRAME.from_canonical(joints, place), cloud, {}, "", memory)


def test_a_policy_does_the_same_about_a_safe_at_any_place(policy):
    joints, past = postures(policy.needs.frames, 1), postures(6, 2)
    chunks = []
    for place in (ELSEWHERE, FRAME.pose):
        policy.reset()
        seen = shown(policy, place, joints, past)
        policy._generator.manual_seed(0)
        policy._started = True
        chunks.append(FRAME.to_canonical(policy.infer(seen), place))
    assert np.abs(FRAME.from_canonical(chunks[0], ELSEWHERE) - chunks[1]).max() > 0.05
    np.testing.assert_allclose(chunks[0], chunks[1], atol=0.03)


def test_the_safe_stands_where_it_was_seen_on_the_whole(policy):
    joints, past = postures(policy.needs.frames, 1), postures(6, 2)
    for place in (ELSEWHERE - 0.01, ELSEWHERE + 0.01):
        policy.infer(shown(policy, place, joints, past))
    np.testing.assert_allclose(policy._pose(), ELSEWHERE, atol=1e-6)
    policy.reset()
    policy.infer(shown(policy, FRAME.pose, joints, past))
    np.testing.assert_allclose(policy._pose(), FRAME.pose, atol=1e-6)


def test_a_checkpoint_keeps_its_frame(policy, tmp_path):
    save_policy(policy.checkpoint, tmp_path)
    assert read_policy(tmp_path).normaliser.frame == FRAME
    blind = replace(policy.checkpoint, config=replace(policy.checkpoint.config, encoder=None))
    weights = make_network("dp3", blind.config, blind.memory.shape).state_dict()
    with pytest.raises(RuleSafeError, match="no scene encoder"):
        NetworkPolicy(replace(blind, weights=weights))
