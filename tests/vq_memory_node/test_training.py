"""Training of a memory; tests/policy_node/test_training.py: kills, signals, a full disk."""

import json
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("sklearn")
pytest.importorskip("tensorboardX")

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ARM_JOINTS
from vq_memory_node.model_files import Architecture, load_model
from vq_memory_node.networks import Decoder, Encoder, start_from_components
from vq_memory_node.quantisers import squared
from vq_memory_node.resume import CHECKPOINT, repeatable
from vq_memory_node.tokenizers import VqTokenizer, load_tokenizer
from vq_memory_node.train_config import MemoryTrainConfig
from vq_memory_node.training import MemoryTraining, train
from vq_memory_node.training_data import JointWindows, fit_normaliser, split
from vq_memory_node.windows import window_at

QUICK = MemoryTrainConfig(
    codes=16,
    dimensions=4,
    clusters=(2, 4),
    steps=60,
    batch=16,
    warm_up=10,
    restart_every=10,
    checkpoint_every=20,
)
FACTS = {"config": {}, "data": {}}


@pytest.fixture(scope="module")
def paths(trajectory):
    """Ten short episodes."""
    return [trajectory(90 + 5 * seed, seed) for seed in range(10)]


@pytest.fixture(scope="module")
def trained(paths, tmp_path_factory):
    """The folder of a quickly trained model."""
    return train(paths, QUICK, tmp_path_factory.mktemp("trained"))


class Stop(Exception):
    """Raised to interrupt a training run."""


def stop_at(step):
    """Return a progress callback that interrupts after this many batches."""

    def watch(progress):
        if progress.step == step:
            raise Stop

    return watch


def same(first, second):
    """Return whether two models are bit-identical."""
    first, second = load_model(first), load_model(second)
    assert first.arrays.keys() == second.arrays.keys()
    return first.hash == second.hash and all(
        np.array_equal(first.arrays[name], second.arrays[name]) for name in first.arrays
    )


def test_reproducible_settings_end_with_the_training():
    def settings():
        filling = torch.utils.deterministic.fill_uninitialized_memory
        return torch.are_deterministic_algorithms_enabled(), filling, torch.get_num_threads()

    before = settings()
    with pytest.raises(Stop), repeatable(1):
        assert settings() == (True, False, 1)
        raise Stop
    assert settings() == before and before[1]


@pytest.mark.train
def test_training_learns_and_tells(paths, tmp_path):
    losses = []
    config = replace(QUICK, steps=300)
    train(paths, config, tmp_path, lambda progress: losses.append(progress.metrics["loss"]))
    assert len(losses) == 300
    model = load_model(tmp_path)
    record = model.training
    assert record["config"]["steps"] == 300
    assert record["data"]["episodes"] == 10
    assert len(record["validation_episodes"]) == 1
    # The score without information: the variance of the windows.
    learned = [path for i, path in enumerate(paths) if i not in record["validation_episodes"]]
    windows = JointWindows(learned, fit_normaliser(learned, config.std_floor))
    spread = windows[torch.arange(len(windows))].var(0).sum()
    assert record["results"]["train"]["reconstruction"] < 0.75 * spread
    assert 4 < record["results"]["train"]["codes"] <= 16
    assert model.arrays["usage"].sum() == pytest.approx(1, abs=1e-5)
    assert list((tmp_path / "tensorboard").iterdir())
    assert not (tmp_path / CHECKPOINT).exists()


@pytest.mark.train
def test_a_memory_that_sees_the_hand_alone_is_blind_to_the_arm(paths, trained, tmp_path):
    train(paths, replace(QUICK, sees="hand"), tmp_path)
    window = window_at(paths[0], 60)
    moved = window.copy()
    moved[:, : len(ARM_JOINTS)] += np.float32(1.0)
    blind, seeing = (VqTokenizer(load_model(out), 16).encoder for out in (tmp_path, trained))
    assert np.array_equal(blind.latent(window), blind.latent(moved))
    assert not np.array_equal(seeing.latent(window), seeing.latent(moved))
    moved = window.copy()
    moved[:, len(ARM_JOINTS) :] += np.float32(1.0)
    assert not np.array_equal(blind.latent(window), blind.latent(moved))


@pytest.mark.train
def test_the_log_has_perplexity_and_usage(paths, tmp_path):
    train(paths, QUICK, tmp_path)
    log = b"".join(path.read_bytes() for path in (tmp_path / "tensorboard").iterdir())
    for name in ("train/loss", "train/perplexity", "train/used", "train/restarted"):
        assert name.encode() in log
    assert b"validation/reconstruction" in log


@pytest.mark.parametrize("quantiser", ["straight_through", "ema"])
@pytest.mark.parametrize("step", [7, 33, 59])
@pytest.mark.train
def test_interrupted_and_resumed_equals_uninterrupted(paths, tmp_path, quantiser, step):
    config = replace(QUICK, quantiser=quantiser)
    with pytest.raises(Stop):
        train(paths, config, tmp_path / "two", stop_at(step))
    began = []
    train(paths, config, tmp_path / "two", lambda progress: began.append(progress.step))
    assert began[0] == step // 20 * 20 + 1
    train(paths, config, tmp_path / "one")
    assert same(tmp_path / "one", tmp_path / "two")


@pytest.mark.train
def test_one_seed_gives_one_model(paths, trained, tmp_path):
    torch.manual_seed(99)  # independent of the state of the caller's generators
    np.random.default_rng()
    train(paths, QUICK, tmp_path / "again")
    assert same(trained, tmp_path / "again")
    assert (trained / "model.json").read_bytes() == (tmp_path / "again/model.json").read_bytes()
    train(paths, replace(QUICK, seed=1), tmp_path / "other")
    assert not same(trained, tmp_path / "other")


@pytest.mark.train
def test_training_leaves_torch_as_it_was(paths, tmp_path):
    torch.manual_seed(3)
    before = torch.random.get_rng_state()
    train(paths, replace(QUICK, steps=3, warm_up=1, threads=2), tmp_path)
    assert torch.equal(torch.random.get_rng_state(), before)
    assert not torch.are_deterministic_algorithms_enabled()


@pytest.mark.train
def test_other_settings_or_data_in_the_same_folder_are_refused(paths, trained, tmp_path):
    with pytest.raises(RuleSafeError, match="config seed 0, now 4; choose another folder"):
        train(paths, replace(QUICK, seed=4), trained)
    with pytest.raises(Stop):
        train(paths, QUICK, tmp_path, stop_at(25))
    with pytest.raises(RuleSafeError, match="data episodes 10, now 9"):
        train(paths[:9], QUICK, tmp_path)


@pytest.mark.parametrize("quantiser", ["straight_through", "ema"])
@pytest.mark.train
def test_the_saved_model_encodes_as_training_did(paths, tmp_path, quantiser):
    torch.set_num_threads(1)
    config = replace(QUICK, quantiser=quantiser)
    run = MemoryTraining(paths, config, tmp_path, FACTS)
    run.run(lambda progress: None)
    model = run.model()
    tokenizer = VqTokenizer(model, 4)
    path = paths[run.validation_episodes[0]]
    codes, _, _ = run.codes(run.validation)
    ours = [tokenizer.code(window_at(path, frame)) for frame in range(len(path))]
    assert ours == codes.tolist()
    tokens = [tokenizer.token(window_at(path, frame)) for frame in range(len(path))]
    assert tokens == model.clusters(4)[codes.numpy()].tolist()


def test_dead_codes_are_restarted_until_late(paths, tmp_path):
    torch.set_num_threads(1)
    run = MemoryTraining(paths, QUICK, tmp_path, FACTS)
    run.step = 9
    run.advance()
    run.step = 20
    run.quantiser.place(torch.arange(1, 16), torch.full((15, 4), 1e4))
    run.uses.zero_()
    run.advance()
    assert (run.uses > 0).tolist() == [True] + 15 * [False]
    assert run.restart() == 15
    assert run.uses.sum() == 0
    entries = run.quantiser.codebook()[1:].detach()
    assert entries.abs().max() < 1e4
    assert (torch.cdist(entries, run.latent).min(1).values < 1e-4).all()
    assert len(torch.unique(entries, dim=0)) == 15
    run.quantiser.place(torch.arange(1, 16), torch.full((15, 4), 1e4))
    run.step = 50  # of 60: past restart_until
    run.advance()
    assert run.restart() == 0


def test_the_codebook_starts_from_k_means_of_latents(paths, tmp_path):
    torch.set_num_threads(1)
    run = MemoryTraining(paths, QUICK, tmp_path, FACTS)
    run.step = QUICK.warm_up
    run.start_codebook()
    codes, _, loss = run.codes(run.training)
    assert len(codes.unique()) == 16
    with torch.no_grad():
        latent = run.encoder(run.training[torch.arange(len(run.training))])
    # 16 centroids explain most of the variance of the latents of smooth random paths.
    assert loss / 2 < 0.5 * latent.var(0).sum()


def test_the_normaliser_uses_training_episodes_only(paths, tmp_path):
    wild = [path.copy() for path in paths]
    kept = split(len(paths), QUICK.validation, QUICK.seed)[1]
    for place in kept:
        wild[place] += 100
    first = MemoryTraining(paths, QUICK, tmp_path, FACTS).normaliser
    second = MemoryTraining(wild, QUICK, tmp_path, FACTS).normaliser
    np.testing.assert_array_equal(first.mean, second.mean)
    np.testing.assert_array_equal(first.std, second.std)


def test_a_joint_that_never_moves_gets_the_floor():
    path = np.zeros((20, 13), np.float32)
    path[:, 0] = np.linspace(0, 1, 20)
    normaliser = fit_normaliser([path, path], 0.05)
    assert normaliser.std[1:].tolist() == [np.float32(0.05)] * 12
    assert normaliser.std[0] == pytest.approx(path[:, 0].std())
    assert normaliser.mean[0] == pytest.approx(0.5)


def test_windows_are_those_of_window_at(paths):
    normaliser = fit_normaliser(paths, 0.05)
    windows = JointWindows(paths[:3], normaliser)
    assert len(windows) == sum(len(path) for path in paths[:3])
    starts = np.cumsum([0, *windows.lengths])
    for episode, frame in ((0, 0), (0, 48), (1, 0), (1, 60), (2, len(paths[2]) - 1)):
        ours = windows[torch.tensor([starts[episode] + frame])][0].T.numpy()
        expected = (window_at(paths[episode], frame) - normaliser.mean) / normaliser.std
        np.testing.assert_allclose(ours, expected, rtol=1e-4, atol=1e-5)


def test_the_split_is_by_seed():
    first, second = split(20, 0.1, 0), split(20, 0.1, 1)
    assert sorted(first[0] + first[1]) == list(range(20))
    assert len(first[1]) == 2
    assert first != second
    assert [len(part) for part in split(2, 0.01, 0)] == [1, 1]


@pytest.mark.train
def test_usage_weighted_clusters_are_another_model(paths, trained, tmp_path):
    train(paths, replace(QUICK, clustering="by_usage"), tmp_path)
    first, second = load_model(trained), load_model(tmp_path)
    np.testing.assert_array_equal(first.arrays["codebook"], second.arrays["codebook"])
    assert not np.array_equal(first.arrays["centroids.4"], second.arrays["centroids.4"])
    assert load_tokenizer(tmp_path, 2).vocabulary == 2


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (lambda paths: paths[:1], "1 episodes"),
        (lambda paths: [*paths, paths[0][:, :12]], r"episode 10 has the shape \(90, 12\)"),
        (lambda paths: [paths[0] * np.nan, *paths], "episode 0 has joint positions with NaN"),
        (lambda paths: [paths[0], paths[1][:0]], r"episode 1 has the shape \(0, 13\)"),
    ],
)
def test_invalid_trajectories_are_rejected(paths, tmp_path, bad, reason):
    with pytest.raises(RuleSafeError, match=reason):
        train(bad(paths), QUICK, tmp_path)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"steps": 0}, "steps is 0; valid: 1 or more"),
        ({"validation": 1.0}, "validation is 1; valid: above 0 and below 1"),
        ({"clusters": (256,)}, "256 clusters of 256 codes; valid: 2 to 255"),
        ({"quantiser": "rvq"}, "quantiser is 'rvq'; valid: straight_through, ema"),
        ({"clustering": "dbscan"}, "clustering is 'dbscan'; valid: unweighted, by_usage"),
        ({"steps": 1000}, "warm_up is 1000; valid: below the number of steps, 1000"),
        ({"dimensions": 651}, "dimensions is 651; valid: 1 to 650"),
        ({"seed": 2**32}, "seed is 4294967296; valid: 0 to 4294967295"),
    ],
)
def test_settings_out_of_range_are_refused(settings, reason):
    with pytest.raises(RuleSafeError, match=reason):
        MemoryTrainConfig(**settings)


def test_facts_of_the_model_are_json(trained):
    record = json.loads((trained / "model.json").read_text())
    assert record["clusterings"] == [2, 4, 16]
    assert record["joints"][0] == "right_shoulder_pitch_joint"
    assert len(record["training"]["data"]["sha256"]) == 64


def test_an_autoencoder_starts_as_principal_components(trajectory):
    """Before the first batch, its error is that of the best linear autoencoder of this size."""
    path = trajectory(400)
    learned = JointWindows([path], fit_normaliser([path], 0.05))
    windows = learned[torch.arange(len(learned))]
    architecture = Architecture(dimensions=4)
    encoder, decoder = Encoder(architecture, 13), Decoder(architecture, 13)
    start_from_components(encoder, decoder, windows)
    with torch.no_grad():
        latent = encoder(windows)
        left = squared(windows - decoder(latent)).item()
    values = np.linalg.svd(windows.flatten(1).double().numpy(), compute_uv=False)
    assert left == pytest.approx((values[4:] ** 2).sum() / len(windows), rel=1e-3)
    assert latent.square().sum(1).mean().item() == pytest.approx(4, rel=1e-3)
