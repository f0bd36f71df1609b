"""Training on a full disk: an error that names the file, and the same command resumes."""

import os
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("tensorboardX")

from policy_node.checkpoints import ARRAY_FILE, read_policy
from policy_node.image_arrays import load_images
from policy_node.scene_features import VIEWS, load_scene_features
from policy_node.training import train
from rulesafe_cli.cli import main
from rulesafe_core.errors import RuleSafeError
from rulesafe_data.store import EpisodeStore
from vq_memory_node.resume import CHECKPOINT
from vq_memory_node.scalar_log import ScalarLog


def test_without_room_the_command_ends_with_a_message_and_resumes(small_disk, small_demos, capsys):
    words = ["policy", "train", small_demos, "--policy", "dp3", "--memory", "none"]
    words += ["--steps", "2", "--batch", "2", "--out", small_disk.path / "out"]
    for left in (0, 1_000_000):  # no cache of point clouds, no weights
        small_disk.fill(left)
        assert main([*map(str, words)]) == 2
        message = "No space left on device. Completed files are intact; free disk space and repeat"
        assert message in capsys.readouterr().err
        assert not list(small_disk.path.glob("*/.*-*"))
    small_disk.free()
    assert main([*map(str, words)]) == 0
    read_policy(small_disk.path / "out")


def test_a_disk_that_fills_up_costs_only_the_steps_after_the_checkpoint(quick, trained, small_disk):
    run, out = quick(), small_disk.path / "out"
    task = replace(run.task, cache=small_disk.path / "cache")

    def fill(progress):
        if progress.step == 5:
            small_disk.fill()

    with pytest.raises(RuleSafeError, match=f"cannot write .*{CHECKPOINT}: No space left"):
        train(task, run.config, out, fill)
    small_disk.free()
    steps = []
    train(task, run.config, out, lambda progress: steps.append(progress.step))
    assert steps == [*range(5, 13)]
    assert (out / ARRAY_FILE).read_bytes() == (trained / ARRAY_FILE).read_bytes()


@pytest.mark.timeout(120)
def test_a_full_disk_while_the_log_is_written_ends_the_training(quick, trained, small_disk):
    run, out = quick(), small_disk.path / "out"
    small_disk.fill()
    with pytest.raises(RuleSafeError, match=r"cannot write .*tensorboard: No space left"):
        train(run.task, run.config, out)
    small_disk.free()
    with ScalarLog(out / "tensorboard", 1) as log:
        log.add({"train/loss": 0.5}, 1)
        small_disk.fill()
        with pytest.raises(RuleSafeError, match="No space left"):  # the last page has some room
            for step in range(1000):
                log.add({"train/loss": 0.5}, step)
        small_disk.free()
    train(run.task, run.config, out)
    assert (out / ARRAY_FILE).read_bytes() == (trained / ARRAY_FILE).read_bytes()


def images(demos, folder):
    store = EpisodeStore(demos)
    return load_images(store, range(len(store)), 16, folder)


def features(demos, folder):
    encoder = torch.nn.Flatten(-2)
    return load_scene_features(encoder, np.zeros((300, 9, 6)), np.arange(300), 8, folder, "x")


@pytest.mark.parametrize(("load", "shape"), [(images, (215, 2, 16, 16, 3)), (features, None)])
def test_a_cache_reserves_its_space(load, shape, demos, small_disk):
    """A write to a memory-mapped page without space on the disk ends the process by a signal."""
    small_disk.fill(16_384)
    child = os.fork()
    if not child:
        try:
            load(demos, small_disk.path)
        except RuleSafeError as error:
            os._exit(0 if "No space left" in str(error) else 2)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    small_disk.free()
    assert load(demos, small_disk.path).shape == (shape or (VIEWS, 300, 48))
