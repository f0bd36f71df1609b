import json
import os
import signal
from functools import partial

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("tensorboardX")

from policy_node.checkpoints import ARRAY_FILE, read_policy
from policy_node.training import train
from policy_node.training_data import ObservationWindows
from rulesafe_core.errors import RuleSafeError, resumable
from rulesafe_data.store import EpisodeStore
from vq_memory_node.memory import MEMORIES
from vq_memory_node.resume import CHECKPOINT


class Stop(Exception):
    """Raised by a test to interrupt a training run."""


def stop_at(step):
    """Return a progress callback that interrupts after this number of steps."""

    def watch(progress):
        if progress.step == step:
            raise Stop

    return watch


@pytest.mark.train
def test_an_interrupted_run_ends_with_the_weights_of_an_undisturbed_one(quick, trained, tmp_path):
    run = quick()
    for step in (6, 11):  # between two saved states
        with pytest.raises(Stop):
            train(run.task, run.config, tmp_path, stop_at(step))
        assert (tmp_path / CHECKPOINT).is_file()
    steps = []
    train(run.task, run.config, tmp_path, lambda progress: steps.append(progress.step))
    assert steps == [9, 10, 11, 12]
    assert (tmp_path / ARRAY_FILE).read_bytes() == (trained / ARRAY_FILE).read_bytes()
    assert not (tmp_path / CHECKPOINT).exists()


def kill_at(step, progress):
    if progress.step == step:
        os.kill(os.getpid(), signal.SIGKILL)


def test_kill_9_costs_only_the_steps_after_the_last_checkpoint(quick, trained, tmp_path):
    run = quick()
    for step in (4, 6, 11):
        child = os.fork()
        if not child:
            try:
                train(run.task, run.config, tmp_path, partial(kill_at, step))
            finally:
                os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    steps = []
    train(run.task, run.config, tmp_path, lambda progress: steps.append(progress.step))
    assert steps == [9, 10, 11, 12]
    assert (tmp_path / ARRAY_FILE).read_bytes() == (trained / ARRAY_FILE).read_bytes()
    assert not list(tmp_path.glob(f".{ARRAY_FILE}*"))


def damages(raw: bytes):
    """Return damaged copies of a file: empty, cut off, and with a changed byte in the middle."""
    middle = len(raw) // 2
    return (
        b"",
        raw[:middle],
        b"x" * 100,
        raw[:middle] + bytes([raw[middle] ^ 255]) + raw[middle + 1 :],
    )


def test_a_damaged_checkpoint_is_refused(quick, tmp_path):
    run = quick()
    with pytest.raises(Stop):
        train(run.task, run.config, tmp_path, stop_at(5))
    path = tmp_path / CHECKPOINT
    for damaged in damages(path.read_bytes()):
        path.write_bytes(damaged)
        with pytest.raises(RuleSafeError, match=r"is damaged .* delete it to restart"):
            train(run.task, run.config, tmp_path)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.train
def test_a_signal_saves_the_completed_step(number, quick, trained, tmp_path, monkeypatch, capsys):
    """Also in the middle of a step, and before the first checkpoint."""
    run, batch, calls = quick(), ObservationWindows.batch, []

    def interrupted(*arguments):
        calls.append(arguments)
        if len(calls) == 3:
            signal.raise_signal(number)
        return batch(*arguments)

    before = signal.getsignal(number)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt), resumable("nothing"):
        patch.setattr(ObservationWindows, "batch", interrupted)
        train(run.task, run.config, tmp_path)
    assert "interrupted: the checkpoint of step 3 is kept; repeat" in capsys.readouterr().err
    assert signal.getsignal(number) == before
    steps = []
    train(run.task, run.config, tmp_path, lambda progress: steps.append(progress.step))
    assert steps == [*range(4, 13)]
    assert (tmp_path / ARRAY_FILE).read_bytes() == (trained / ARRAY_FILE).read_bytes()


def test_a_run_that_is_complete_is_left_alone(quick, trained):
    run = quick()
    before = (trained / ARRAY_FILE).stat().st_mtime_ns
    train(run.task, run.config, trained, stop_at(1))
    assert (trained / ARRAY_FILE).stat().st_mtime_ns == before


@pytest.mark.train
def test_another_run_in_the_same_folder_is_refused(quick, trained, tmp_path):
    run = quick(seed=7)
    with pytest.raises(RuleSafeError, match="config seed 0, now 7"):
        train(run.task, run.config, trained)
    with pytest.raises(Stop):
        train(run.task, run.config, tmp_path, stop_at(5))
    other = quick("raw", seed=7)
    with pytest.raises(RuleSafeError, match="memory kind 'vq', now 'raw'"):
        train(other.task, other.config, tmp_path)


@pytest.mark.train
def test_a_seed_decides_the_weights(quick, trained, tmp_path):
    run = quick(seed=1)
    weights = read_policy(train(run.task, run.config, tmp_path)).weights
    first = read_policy(trained).weights
    assert not torch.equal(weights["unet.out.1.weight"], first["unet.out.1.weight"])


@pytest.mark.parametrize("memory", MEMORIES.builtin)
@pytest.mark.train
def test_training_lowers_the_loss_with_every_memory(memory, quick, tmp_path):
    losses = []
    run = quick(memory, steps=60, learning_rate=3e-3, checkpoint_every=60)
    train(run.task, run.config, tmp_path, lambda progress: losses.append(progress.metrics["loss"]))
    assert np.mean(losses[-10:]) < 0.7 * np.mean(losses[:5])
    assert read_policy(tmp_path).memory == run.task.memory


def test_the_checkpoint_tells_where_it_comes_from(quick, trained):
    found = read_policy(trained)
    store = EpisodeStore(quick().task.data)
    assert found.data["digest"] == store.digest
    assert found.data["frames"] == store.frames
    assert found.data["instructions"] == ["turn the knob", "pull the door"]
    assert found.training["facts"]["config"]["steps"] == 12
    assert 0 <= found.training["results"]["share_waiting_for_data"] < 1
    assert list((trained / "tensorboard").iterdir())


@pytest.mark.train
def test_training_does_not_read_what_the_lock_knows(quick, tmp_path, monkeypatch):
    def forbidden(*_):
        raise AssertionError("privileged")

    monkeypatch.setattr("rulesafe_data.store.Privileged", forbidden)
    run = quick("raw", steps=2)
    train(run.task, run.config, tmp_path)
    assert "rule_0" not in json.dumps(read_policy(tmp_path).data)
