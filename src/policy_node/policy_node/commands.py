"""The subcommands of `rulesafe policy`. Each imports its dependencies when it runs."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import tyro

from policy_node.configs import TwoLevelConfig
from policy_node.families import FAMILIES, find_config
from policy_node.train_config import TrainConfig
from rulesafe_core.errors import RuleSafeError, resumable
from rulesafe_core.settings import check_positive
from vq_memory_node.memory import MEMORIES, make_memory

Data = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="DATA")]
family = tyro.conf.arg(metavar=FAMILIES.metavar)
kind = tyro.conf.arg(metavar=MEMORIES.metavar)
Name = Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="NAME")]


def train(
    data: Data,
    policy: Annotated[str, family],
    memory: Annotated[str, kind],
    out: Path,
    size: str = "tiny",
    memory_model: str | None = None,
    clusters: int | None = None,
    length: int | None = None,
    rules: str | None = None,
    cache: Path | None = None,
    skills: str | None = None,
    config: Annotated[TrainConfig, tyro.conf.OmitArgPrefixes] = TrainConfig(),
) -> None:
    """Train a policy on demonstrations.

    Ctrl-C or SIGTERM saves a checkpoint after the current step; the same command resumes the run.
    The TensorBoard log is in OUT/tensorboard.

    Example: rulesafe policy train demos --policy dp3 --size tiny --memory vq --out vq

    Args:
        data: Dataset with point clouds and images, as written by `rulesafe demos render`.
        policy: Policy family; for a family of another package, the name of its entry point or
            module:NAME.
        memory: Kind of memory; for a memory of another package, the name of its entry point or
            module:NAME.
        out: Output folder of the checkpoint.
        size: tiny; images (not dp3: camera images instead of point clouds); gru, transformer,
            scenes, sparse_scenes (two_level only: the network over the memory, or earlier scenes);
            base (dp3 only: with the published widths); published (dp3 only: as published, with the
            widths of tiny).
        memory_model: Name or folder of the memory model (vq only); default: all_rules.
        clusters: J, the number of different tokens (vq only).
        length: M, the number of values in the memory, 2 s apart.
        rules: Comma-separated rules whose demonstrations are used; None: all.
        cache: Folder for decoded point clouds and images, which several runs may share; None: a
            folder next to OUT.
        skills: Folder of the trained skills that execute the subtasks (two_level only).
    """
    from rulesafe_data.bars import training_bar
    from rulesafe_data.store import EpisodeStore

    task_memory = make_memory(memory, model=memory_model, clusters=clusters, length=length)
    network = find_config(policy, size)
    if isinstance(network, TwoLevelConfig) != (skills is not None):
        raise RuleSafeError(
            "two_level requires --skills, the folder of trained skills; other families do not "
            "have this option"
        )
    if isinstance(network, TwoLevelConfig) and skills is not None:
        network = replace(network, skills=skills)
    from policy_node import training
    from policy_node.checkpoints import read_policy

    store, instructions = EpisodeStore(data), _instructions(rules)
    cache = cache or out.parent / f"cache_{store.digest[:12]}"
    facts = map(store.privileged.facts, training.select_episodes(store, instructions))
    safes = tuple(sorted({fact["safe"] for fact in facts if "safe" in fact}))
    task = training.TrainingTask(
        policy, size, network, task_memory, data, instructions, cache, safes
    )
    kept = f"the last checkpoint, if any (saved every {config.checkpoint_every} steps),"
    with training_bar(config.steps, "step") as show, resumable(kept):
        training.train(
            task,
            config,
            out,
            lambda now: show(
                now.step,
                "loss {loss:.5f}, lr {rate:.1e}, waiting for data {waiting:.1%}".format(
                    **now.metrics
                ),
            ),
        )
    results = read_policy(out).training["results"]
    print(", ".join(f"{name} {_figure(value)}" for name, value in results.items()))
    print(f"{out}: {policy} {size}, memory {memory}")


def _figure(value: Any) -> str:
    """Format floats with four significant digits; policy.json has the exact value."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def describe(
    name: Annotated[Name | None, tyro.conf.Positional] = None,
    policy: Annotated[str | None, family] = None,
    size: str = "tiny",
    memory: Annotated[str, kind] = "vq",
) -> None:
    """Print a policy's parameter counts, input and output shapes, memory, and FLOPs per chunk.

    Example: rulesafe policy describe --policy dp3 --size tiny

    Args:
        name: Name of a shipped policy, folder of a checkpoint, or module:name on the PYTHONPATH
            that loads a checkpoint.
        policy: Policy family, as in `rulesafe policy train`, to describe instead of a checkpoint.
        size: Size of the family, as in `rulesafe policy train`.
        memory: Memory of the family, as in `rulesafe policy train`.
    """
    from policy_node.description import describe_checkpoint, describe_family

    if (name is None) == (policy is None):
        raise RuleSafeError("give either the name of a checkpoint or a family (--policy FAMILY)")
    if name is not None:
        print(describe_checkpoint(name))
    if policy is not None:
        print(describe_family(policy, size, find_config(policy, size), make_memory(memory)))


def open_loop(
    name: Name,
    data: Data,
    rules: str | None = None,
    episodes: int = 10,
    every: int = 12,
) -> None:
    """Compare a policy's action chunks with the actions of demonstrations, without simulation.

    This measures action errors only; `rulesafe eval` measures whether the policy opens safes.
    Recordings of a real robot can be used too (`rulesafe bag to-dataset`).

    Example: rulesafe policy open-loop dp3_rule_020 demos --rules rule_020

    Args:
        name: Name of a shipped policy, folder of a checkpoint, module:Class on the PYTHONPATH, or
            an address such as openpi://HOST:PORT.
        data: Dataset with the policy's inputs, such as one written by `rulesafe demos render`.
        rules: Comma-separated rules whose demonstrations are used; None: all.
        episodes: Number of episodes, evenly spaced over the dataset.
        every: Number of frames between two inferences.
    """
    from policy_node import open_loop as evaluation
    from policy_node.loading import find_policy
    from rulesafe_data.bars import training_bar
    from rulesafe_data.store import EpisodeStore

    store, tasks = EpisodeStore(data), _instructions(rules)
    matching = [episode.index for episode in store.episodes if not tasks or episode.task in tasks]
    if not matching:
        raise RuleSafeError(f"{data} has no demonstration of {rules}")
    chosen = evaluation.evenly_spaced(matching, episodes)
    policy = find_policy(name)
    with training_bar(len(chosen), "episode") as show:
        errors = evaluation.measure(policy, store, chosen, every, lambda done: show(done, ""))
    checkpoint = getattr(policy, "checkpoint", None)
    data_of = (checkpoint.data or {}) if checkpoint is not None else {}
    measured = {store.episodes[index].task for index in chosen}
    trained = data_of.get("digest") == store.digest and measured <= set(data_of["instructions"])
    print(
        f"{name}: {len(errors.hand)} chunks in {len(chosen)} of {len(matching)} episodes of {data}"
        f"{', its training data' if trained else ''}; median error (90th percentile)\n"
    )
    print(evaluation.report(errors))


def _instructions(rules: str | None) -> tuple[str, ...] | None:
    """Return the instructions of these rules: a dataset identifies the rule of an episode only by
    its instruction."""
    from rulesafe_locks.lock_sets import expand_rules

    if rules is None:
        return None
    return tuple(rule.description for rule in expand_rules(rules).values())


def scenes(
    recordings: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="DIR")],
    out: Path,
    safes: str = "all",
    places: int = 300,
    split: str = "",
    seed: int = 0,
    images: bool = False,
    cameras: str = "",
) -> None:
    """Render point clouds or images of safes at random poses, to train a scene encoder on.

    Example: rulesafe policy scenes demos --out scenes.npz

    Args:
        recordings: Output folders of `rulesafe demos generate`; their robot postures are used.
        out: Output file (.npz).
        safes: Comma-separated safes, or all.
        places: Number of poses of each safe; three scenes are rendered at each pose.
        split: Split that poses, colours and cameras are sampled from; empty: ranges that contain
            those of varied and shifted.
        seed: Random seed.
        images: Render the images of the cameras instead of point clouds. In contrast to point
            clouds, they are not corrected by the pose of a camera: choose a split without
            variation of the cameras, such as nominal.
        cameras: YAML file of the cameras (docs/interface.md), or its name in an installed package.
    """
    from policy_node.scenes import POSTURES, make_scenes
    from policy_node.scenes import recordings as read_recordings
    from rulesafe_core.cameras import load_cameras
    from rulesafe_data.bars import training_bar
    from rulesafe_sim.safes import SAFES

    chosen = SAFES if safes == "all" else tuple(safes.split(","))
    check_positive("--places", places)
    if seed < 0:
        raise RuleSafeError(f"--seed is {seed}; valid: 0 or more")
    out.parent.mkdir(parents=True, exist_ok=True)
    with training_bar(places * len(chosen), "pose") as show:
        made = make_scenes(
            read_recordings(recordings),
            chosen,
            places,
            split,
            seed,
            lambda done: show(done, ""),
            images,
            load_cameras(cameras),
        )
    made.save(out)
    print(f"{out}: {len(made.inputs)} scenes of {len(chosen)} safes, {POSTURES} per pose")


def encoder(
    scenes: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="SCENES")],
    out: Path,
    test: Path | None = None,
    steps: int = 6000,
    seed: int = 0,
) -> None:
    """Train a scene encoder: it estimates a safe's pose, identity and joint positions.

    Its input is a point cloud, or the images of both cameras, as in the scenes. A policy with a
    scene encoder keeps it frozen.

    Example: rulesafe policy encoder scenes.npz --out encoder.safetensors --test others.npz

    Args:
        scenes: File written by `rulesafe policy scenes`.
        out: Output file (.safetensors).
        test: File with other scenes, on which the errors are measured.
        steps: Number of training steps, each with a batch of 64 scenes.
        seed: Seed of weights and batches.
    """
    from policy_node import scene_encoder
    from rulesafe_data.bars import training_bar

    check_positive("--steps", steps)
    out.parent.mkdir(parents=True, exist_ok=True)
    with training_bar(steps, "step") as show:
        data = scene_encoder.load_scenes(scenes)
        trained = scene_encoder.fit(
            data, steps, seed, lambda step, loss: show(step, f"loss {loss:.4f}")
        )
    scene_encoder.save_encoder(trained, out)
    if test is not None:
        print(_encoder_errors(scene_encoder, trained, scene_encoder.load_scenes(test)))
    print(out)


def exchange(
    name: Annotated[Name, tyro.conf.Positional],
    encoder: str,
    out: Path,
) -> None:
    """Exchange the scene encoder of a policy, for example to use camera images, without training.

    The rest of the policy is used unchanged, since all encoders estimate the same quantities. The
    new policy refers to the other one and to the encoder, which must not be moved.

    Example: rulesafe policy exchange two_level_all_rules --encoder ten_safes_images --out images

    Args:
        name: Name of a shipped policy, or folder of a checkpoint, of the family bc, skills
            or two_level.
        encoder: Name of a shipped scene encoder (ten_safes: point clouds; ten_safes_images: the
            images of both cameras), or a file of `rulesafe policy encoder`.
        out: Folder of the new policy.
    """
    from policy_node.checkpoints import exchange_encoder

    exchange_encoder(name, encoder, out)
    print(out)


def _encoder_errors(scene_encoder: Any, trained: Any, test: Any) -> str:
    import numpy as np

    errors, accuracy = scene_encoder.errors(trained, test)
    rows = [
        f"{name}: error {np.median(column):.4f} (median), {np.quantile(column, 0.9):.4f} (90 %)"
        for name, column in zip(scene_encoder.QUANTITIES, errors.T, strict=True)
    ]
    return "\n".join([*rows, f"safe identified in {accuracy:.1%} of {len(errors)} scenes"])


SUBCOMMANDS: dict[str, Callable[..., int | None]] = {
    "train": train,
    "describe": describe,
    "open-loop": open_loop,
    "scenes": scenes,
    "encoder": encoder,
    "exchange": exchange,
}
"""Names of the subcommands; each returns its exit code, or None for 0."""
