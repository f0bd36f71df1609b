"""Models with finite scalar quantisation: the formula, and a training whose model is a memory."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("tensorboardX")

from dataclasses import replace

from rulesafe_core.errors import RuleSafeError
from rulesafe_studies.fsq import Fsq, FsqTokenizer, FsqTrainConfig, FsqTraining
from vq_memory_node.memory import VqMemory
from vq_memory_node.model_files import load_model, save_model
from vq_memory_node.training import train
from vq_memory_node.windows import window_at

CONFIG = FsqTrainConfig(
    levels=(4, 3), clusters=(2, 4), steps=30, warm_up=1, restart_every=10, checkpoint_every=20
)
GRID = FsqTrainConfig().architecture


@pytest.fixture(scope="module")
def paths():
    """Return joint positions (90, 13), rad, of four episodes."""
    rng = np.random.default_rng(0)
    return [np.cumsum(rng.normal(0, 0.05, (90, 13)), 0).astype(np.float32) for _ in range(4)]


def test_each_dimension_is_rounded_to_its_levels():
    quantiser = Fsq(GRID)
    grid = quantiser.codebook()
    assert grid.shape == (240, 3)
    assert [len(set(column.tolist())) for column in grid.T] == [8, 6, 5]
    assert len({tuple(row) for row in grid.tolist()}) == 240
    # A latent at an entry gets this entry and its index.
    inside = (grid + 1) / 2 * 0.998 + 0.001
    found = quantiser(torch.logit(inside))
    assert found.codes.tolist() == list(range(240))
    torch.testing.assert_close(found.latent, grid)
    assert found.loss.item() == 0


def test_the_gradient_is_that_of_the_bound():
    latent = torch.randn(7, 3, requires_grad=True)
    Fsq(GRID)(latent).latent.sum().backward()
    slope = torch.sigmoid(latent) * (1 - torch.sigmoid(latent)) * 2
    torch.testing.assert_close(latent.grad, slope.detach())


class Stop(Exception):
    """Raised to interrupt a training run."""


def test_a_trained_model_is_a_memory_whose_tokens_are_those_of_the_training(paths, tmp_path):
    def stop(progress):
        if progress.step == 25:
            raise Stop

    with pytest.raises(Stop):
        train(paths, CONFIG, tmp_path / "two", stop, FsqTraining)
    for out in ("one", "two"):
        train(paths, CONFIG, tmp_path / out, run=FsqTraining)
    models = [load_model(tmp_path / out) for out in ("one", "two")]
    assert models[0].hash == models[1].hash, "a resumed training gives the same model"
    run = FsqTraining(paths, CONFIG, tmp_path / "three", {})
    run.run(lambda progress: None)
    codes, _, _ = run.codes(run.validation)
    path = paths[run.validation_episodes[0]]
    windows = [window_at(path, frame) for frame in range(len(path))]
    run.save_result()
    tokenizer = FsqTokenizer(run.model(), 4)
    assert [tokenizer.code(window) for window in windows] == codes.tolist()
    memory = VqMemory(str(tmp_path / "three"), clusters=4, length=6)
    tokens = memory.values_at(path, np.arange(len(path)))
    assert tokens.tolist() == run.model().clusters(4)[codes.numpy()].tolist()


def test_levels_that_do_not_fit_the_codes_are_refused(paths, tmp_path):
    train(paths, CONFIG, tmp_path / "model", run=FsqTraining)
    model = load_model(tmp_path / "model")
    other = replace(model, architecture=replace(model.architecture, levels=(3, 3)))
    save_model(other, tmp_path / "other")
    with pytest.raises(RuleSafeError, match=r"levels \(3, 3\) do not fit 2 dimensions and 12"):
        VqMemory(str(tmp_path / "other")).describe()
