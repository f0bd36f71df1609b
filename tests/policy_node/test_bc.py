"""Behaviour cloning: what the network learns from, and that inference is as in training."""

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from policy_node.augmentation import disturb
from policy_node.batches import Batch
from policy_node.checkpoints import exchange_encoder
from policy_node.configs import BcConfig, EncoderConfig
from policy_node.families import find_config, make_network
from policy_node.history import ObservationHistory
from policy_node.language import InstructionEncoder, tokenize
from policy_node.memory_inputs import memory_input
from policy_node.network_policy import load_policy
from policy_node.normaliser import Actions, Normaliser, Scaling
from policy_node.skills import LEVERS as JOINT_LEVERS
from policy_node.train_config import TrainConfig
from policy_node.training import TrainingTask, train
from policy_node.training_data import ObservationWindows, pad
from rulesafe_data.store import EpisodeStore
from vq_memory_node.memory import MemoryShape
from vq_memory_node.rolling import readings_of

ENCODER = EncoderConfig(("safe_01", "safe_02"))
SMALL = BcConfig(encoder=ENCODER, language=16, memory_features=16, width=64, blocks=2, modes=0)
LEVERS = torch.tensor(JOINT_LEVERS).repeat(5)
FEW = TrainConfig(steps=2, batch=4, warm_up=1)


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """The cache folder for decoded data of `labelled`."""
    return tmp_path_factory.mktemp("cache")


def batch_of(count, memory):
    """Return observations that are equal except for the instruction and the memory."""
    ids, mask = pad(
        [tokenize(text) for text in ("Open the knob.", "Open the handle and the door.")]
    )
    places = torch.arange(count) % 2
    batch = Batch(
        joints=torch.zeros(count, SMALL.frames, 13),
        scene_features=torch.zeros(count, 1, 9),
        language=ids[places],
        language_mask=mask[places],
        actions=torch.rand(count, 50, 13) - 0.5,
    )
    if memory.kind != "none":
        later = (torch.arange(count) // 2 % 2)[:, None]
        values = torch.arange(memory.length) % 2 + 2 * later
        batch.memory = values if memory.kind == "tokens" else torch.rand(count, memory.length, 13)
        batch.memory_mask = torch.ones(count, memory.length, dtype=torch.bool)
    return batch


def fit(network, batch):
    """Train a network on one batch."""
    optimiser = torch.optim.AdamW(network.parameters(), 3e-3)
    for step in range(200):
        optimiser.param_groups[0]["lr"] = 3e-3 * (1 - step / 200)
        optimiser.zero_grad()
        network.loss(batch).backward()
        optimiser.step()


@pytest.mark.parametrize("kind", ["none", "tokens", "raw"])
def test_it_learns_what_only_instruction_and_memory_tell_apart(kind):
    shapes = {"none": MemoryShape(), "tokens": MemoryShape("tokens", 6, 4)}
    memory = shapes.get(kind) or MemoryShape("raw", 6)
    count = 2 if kind == "none" else 4
    torch.manual_seed(0)
    network, batch = make_network("bc", SMALL, memory), batch_of(count, memory)
    fit(network, batch)
    assert (network.sample(batch) - batch.actions).abs().mean() < 0.02
    listed = {id(p) for part in network.parts().values() for p in part.parameters()}
    assert listed == {id(p) for p in network.parameters()}


class Alike:
    """Windows with equal observations, and two motions in equal numbers."""

    normaliser = Normaliser(
        Scaling(np.zeros(13, np.float32), np.ones(13, np.float32)),
        Actions("absolute", Scaling(np.zeros(13, np.float32), np.ones(13, np.float32))),
    )

    def __init__(self):
        self._batch = batch_of(4, MemoryShape())
        self._batch.language = self._batch.language[:1].expand(4, -1)
        self._batch.language_mask = self._batch.language_mask[:1].expand(4, -1)
        self.motions = self._batch.actions[:2].clone()
        self._batch.actions = self.motions.repeat(2, 1, 1)

    def __len__(self):
        return 4

    def batch(self, indices, rng=None):
        return self._batch


def test_of_two_motions_one_is_chosen_and_not_a_mixture():
    torch.manual_seed(0)
    windows = Alike()
    network = make_network("bc", replace(SMALL, modes=2), MemoryShape())
    network.store_demonstrations(windows)
    batch = windows.batch(np.arange(4))
    fit(network, batch)
    found = network.sample(batch)[0]
    errors = [(found - motion).abs().mean() for motion in windows.motions]
    assert min(errors) < 0.02 < 0.2 < max(errors)
    for mode, motion in enumerate(windows.motions):
        near = (network.centres - windows.motions[mode][9::10].flatten() * LEVERS).norm(dim=1)
        chunk = network.predict(batch, near.argmin().expand(4))[0]
        assert (chunk - motion).abs().mean() < 0.02


def test_errors_of_the_steps_that_are_executed_have_the_largest_weights():
    network, batch = make_network("bc", SMALL, MemoryShape()), batch_of(4, MemoryShape())
    with torch.no_grad():
        exact = network.predict(batch)
        losses = []
        for step in (0, 11, 12, 49):
            batch.actions = exact.clone()
            batch.actions[:, step] += 1.0
            losses.append(network.loss(batch).item())
        batch.actions = exact + 1.0
        assert network.loss(batch).item() == pytest.approx(1.0, rel=1e-4)
    assert losses[0] / losses[2] == pytest.approx(np.exp(12 / SMALL.decay), rel=1e-4)
    assert losses[0] > losses[1] > losses[2] > 10 * losses[3] > 0


def test_equal_instructions_are_encoded_once_and_alike():
    torch.manual_seed(0)
    encoder = InstructionEncoder(16, 4).eval()
    ids, mask = pad([tokenize("Open the knob."), tokenize("Open the handle and the door.")])
    rows = torch.tensor([1, 0, 1, 1, 0])
    with torch.no_grad():
        alone = torch.cat([encoder(ids[i : i + 1], mask[i : i + 1]) for i in (0, 1)])
        torch.testing.assert_close(encoder(ids[rows], mask[rows]), alone[rows])
    seen = []
    encoder.layer.register_forward_pre_hook(lambda _, inputs: seen.append(len(inputs[0])))
    encoder(ids[rows], mask[rows])
    assert seen == [2]


@pytest.mark.parametrize("safe_frame", [True, False])
def test_the_identity_is_the_mean_of_the_episode_in_training_and_at_inference(
    safe_frame, labelled, cache, memories, tmp_path
):
    settings = replace(FEW, safe_frame=safe_frame)
    memory, store = memories["vq"], EpisodeStore(labelled)
    task = TrainingTask("bc", "tiny", SMALL, memory, labelled, None, cache)
    policy = load_policy(train(task, settings, tmp_path / "bc"))
    network, normaliser = policy._network, policy.checkpoint.normaliser
    windows = ObservationWindows(
        *(store, [0], policy.checkpoint.config, memory, settings, cache, network.token_ids),
        encoder=network.scene_encoder(),
        normaliser=normaliser,
    )
    trained = windows.batch(np.arange(60)).scene_features[:, 0, 7:]
    episode = store.episode(0)
    reading = readings_of(memory_input(store, 0, memory.input), memory)
    seen = []
    policy._sample = lambda batch, _: seen.append(batch) or torch.zeros(1, 50, 13)
    for _ in range(2):  # another episode begins with its own estimates
        policy.reset()
        seen.clear()
        history = ObservationHistory(policy.needs)
        for frame in range(60):
            history.push(
                frame, episode["observation.state"][frame], episode["observation.points"][frame]
            )
            policy.infer(history.observation(frame, "turn the knob", reading[frame]))
        found = torch.cat([batch.scene_features[:, 0, 7:] for batch in seen])
        torch.testing.assert_close(found, trained)
        assert (found.diff(dim=0).abs().amax(0) > 1e-4).all()


def test_with_an_encoder_of_images_it_needs_images(labelled, cache, memories, tmp_path):
    task = TrainingTask(
        "bc", "tiny", find_config("bc", "tiny"), memories["none"], labelled, None, cache
    )
    exchange_encoder(train(task, FEW, tmp_path / "bc"), "ten_safes_images", tmp_path / "images")
    needs = load_policy(tmp_path / "images").needs
    assert needs.images and not needs.points and needs.instruction


@pytest.mark.parametrize("values", [1, 13])
def test_memories_are_disturbed_in_two_ways(values):
    count, length = 4000, 12
    rng = np.random.default_rng(0)
    before = np.arange(count)[:, None] * 100 + np.arange(length)
    if values > 1:
        before = np.repeat(before[..., None], values, axis=2)
    found, mask = before.copy(), np.ones((count, length), bool)
    disturb(found, mask, 0.6, rng)
    flat = found if values == 1 else found[..., 0]
    window, place = flat // 100, flat % 100
    other = (window != np.arange(count)[:, None]) & mask
    missing = ~mask
    assert 0.20 < other.any(1).mean() < 0.26 and other.mean() < 0.06
    assert 0.27 < missing.any(1).mean() < 0.33 and missing.sum(1).max() == 3
    delayed = missing.any(1) & ~other.any(1)
    for row in np.flatnonzero(delayed)[:50]:
        steps = missing[row].sum()
        assert missing[row, :steps].all()
        np.testing.assert_array_equal(place[row, steps:], np.arange(length - steps))
    untouched = ~missing.any(1) & ~other.any(1)
    np.testing.assert_array_equal(found[untouched], before[untouched])
    disturb(found, mask, 0.0, rng)
    assert (~mask).sum() == missing.sum()


def test_disturbed_memories_are_a_setting_of_training(labelled, cache, memories, tmp_path):
    task = TrainingTask("bc", "tiny", SMALL, memories["vq"], labelled, None, cache)
    weights = []
    for share in (0.0, 0.0, 1.0):
        out = tmp_path / str(len(weights))
        policy = load_policy(train(task, replace(FEW, memory_disturbance=share), out))
        weights.append(policy.checkpoint.weights["head.1.weight"])
    assert torch.equal(weights[0], weights[1]) and not torch.equal(weights[0], weights[2])
