"""The subcommands of `rulesafe policy`. What they need is imported when they run."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from policy_node.configs import TrainConfig
from rulesafe_core.errors import RuleSafeError, resumable

if TYPE_CHECKING:
    pass

Data = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="DATA")]
Name = Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="NAME")]


def train(
    data: Data,
    policy: str,
    memory: str,
    out: Path,
    size: str = "tiny",
    memory_model: str | None = None,
    clusters: int | None = None,
    length: int | None = None,
    rules: str | None = None,
    cache: Path | None = None,
    weights: tuple[str, ...] = (),
    download: bool = False,
    config: Annotated[TrainConfig, tyro.conf.OmitArgPrefixes] = TrainConfig(),
) -> None:
    """Train a policy on demonstrations.

    Called again with the same words it goes on where it stopped. OUT/tensorboard has the log.
    Several GPUs: the same after `accelerate launch -m rulesafe_cli.cli policy train ...`.

    Example: rulesafe policy train demos --policy dp3 --size tiny --memory vq --out vq

    Args:
        data: A dataset with clouds and pictures, as `rulesafe demos render` makes it.
        policy: The family: dp3, rdt, cogact, pi0, or one of another package: the name of an entry
            point, or module:NAME.
        memory: none, raw, vq, fsq, or a memory of another package: the name of an entry point, or
            module:Class.
        out: Folder for the checkpoint.
        size: tiny, small (of rdt, cogact and pi0: with pictures) or base.
        memory_model: Of vq and fsq: name of a memory's model, or its folder.
        clusters: Of vq and fsq: J, how many tokens.
        length: M, how many values are remembered, 2 s apart.
        rules: Rules whose demonstrations to learn from, joined by commas; all if not given.
        cache: Folder for clouds and pictures decoded once; several runs may share it. If not given,
            one beside OUT.
        weights: Of rdt, cogact and pi0 at base size: folders, or names on the Hugging Face hub, of
            the published parts they start from: language first, then pictures.
        download: Whether weights that are not on this disk may be fetched.
    """
    from policy_node.configs_vla import from_weights
    from policy_node.families import find_config
    from rulesafe_data.bars import training_bar
    from rulesafe_data.store import EpisodeStore
    from vq_memory_node.memory import make_memory

    task_memory = make_memory(memory, model=memory_model, clusters=clusters, length=length)
    network = from_weights(find_config(policy, size), weights, download)
    from policy_node import training
    from policy_node.checkpoints import read_policy

    store, instructions = EpisodeStore(data), _instructions(rules)
    cache = cache or out.parent / f"cache_{store.digest[:12]}"
    facts = map(store.privileged.facts, training.choose(store, instructions))
    safes = tuple(sorted({fact["safe"] for fact in facts if "safe" in fact}))
    task = training.TrainingTask(
        policy, size, network, task_memory, data, instructions, cache, safes
    )
    kept = f"the last checkpoint, one every {config.checkpoint_every} steps,"
    with training_bar(config.steps, "step") as show, resumable(kept):
        training.train(
            task,
            config,
            out,
            lambda now: show(
                now.step, f"loss {now.loss:.5f}, rate {now.rate:.1e}, waiting {now.waiting:.1%}"
            ),
        )
    results = read_policy(out).training["results"]
    print(", ".join(f"{name} {_figure(value)}" for name, value in results.items()))
    print(f"{out}: {policy} {size}, memory {memory}")


def _figure(value: Any) -> str:
    """Of a number with a fraction, four digits; all of it is in policy.json."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def describe(
    name: Annotated[Name | None, tyro.conf.Positional] = None,
    policy: str | None = None,
    size: str = "tiny",
    memory: str = "vq",
) -> None:
    """Tell of a policy: parameters of each part, shapes, memory, operations for a chunk.

    Example: rulesafe policy describe --policy dp3 --size tiny

    Args:
        name: A policy that comes with the package, the folder of a checkpoint, or module:name, of
            your own on the PYTHONPATH, that loads one.
        policy: Instead: a family, as in `rulesafe policy train`, its weights at random.
        size: Of the family: tiny, small or base.
        memory: Of the family: as in `rulesafe policy train`.
    """
    from policy_node.description import describe_checkpoint, describe_family
    from policy_node.families import find_config
    from vq_memory_node.memory import make_memory

    if (name is None) == (policy is None):
        raise RuleSafeError("name a checkpoint or a family (--policy), not both and not neither")
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
    """Compare a policy's chunks with what demonstrations commanded, at the same instants.

    How exactly it acts, in seconds and without a simulation; `rulesafe eval` tells if that opens a
    safe. Recordings of a real robot will do (`rulesafe bag to-dataset`).

    Example: rulesafe policy open-loop dp3_rule_020 demos --rules rule_020

    Args:
        name: A policy that comes with the package, the folder of a checkpoint, or module:Class, one
            of your own on the PYTHONPATH.
        data: A dataset with what the policy needs to see, such as `rulesafe demos render` makes.
        rules: Rules whose demonstrations to look at, joined by commas; all if not given.
        episodes: How many of them, evenly spread.
        every: Frames from one question to the next.
    """
    from policy_node import open_loop as comparing
    from policy_node.loading import find_policy
    from rulesafe_data.bars import training_bar
    from rulesafe_data.store import EpisodeStore

    store, told = EpisodeStore(data), _instructions(rules)
    there = [episode.index for episode in store.episodes if not told or episode.task in told]
    if not there:
        raise RuleSafeError(f"{data} has no demonstration of {rules}")
    chosen = comparing.spread(there, episodes)
    policy = find_policy(name)
    with training_bar(len(chosen), "episode") as tell:
        found = comparing.measure(policy, store, chosen, every, lambda done: tell(done, ""))
    checkpoint = getattr(policy, "checkpoint", None)
    learned = checkpoint is not None and (checkpoint.data or {}).get("digest") == store.digest
    print(
        f"{name}: {len(found.hand)} chunks in {len(chosen)} of {len(there)} episodes of {data}"
        f"{', which it learned from' if learned else ''}; median (90 % are below)\n"
    )
    print(comparing.report(found))


def _instructions(rules: str | None) -> tuple[str, ...] | None:
    """What the demonstrations of these rules are called, for a dataset's episodes are known to a
    policy by their instructions alone."""
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
) -> None:
    """Render clouds of safes that stand anywhere, for an encoder to learn from. Nothing is opened.

    Example: rulesafe policy scenes demos --out scenes.npz

    Args:
        recordings: Directories that `rulesafe demos generate` left: the robot's postures.
        out: File for the clouds, .npz.
        safes: Safes joined by commas, or all.
        places: Of each safe; three clouds of each.
        split: What places, colours and cameras are drawn from; if not given, ranges that cover
            those of train and shifted.
        seed: Of the draws.
    """
    from policy_node.scenes import POSTURES, make_scenes
    from policy_node.scenes import recordings as read_some
    from rulesafe_data.bars import training_bar
    from rulesafe_sim.safes import SAFES

    chosen = SAFES if safes == "all" else tuple(safes.split(","))
    with training_bar(places * len(chosen), "place") as tell:
        made = make_scenes(
            read_some(recordings), chosen, places, split, seed, lambda done: tell(done, "")
        )
    made.save(out)
    print(f"{out}: {len(made.clouds)} clouds, {POSTURES} of each place, {len(chosen)} safes")


def encoder(
    scenes: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="SCENES")],
    out: Path,
    test: Path | None = None,
    steps: int = 6000,
    seed: int = 0,
) -> None:
    """Train a scene encoder: from a cloud, where a safe stands, which it is, how its parts stand.

    Example: rulesafe policy encoder scenes.npz --out encoder.safetensors --test others.npz

    Args:
        scenes: File of `rulesafe policy scenes`.
        out: File for the encoder, .safetensors.
        test: Other scenes to measure it on.
        steps: Batches of 64 clouds.
        seed: Of weights and batches.
    """
    from policy_node import scene_encoder as seeing
    from rulesafe_data.bars import training_bar

    with training_bar(steps, "step") as tell:
        shown = seeing.load_scenes(scenes)
        found = seeing.fit(shown, steps, seed, lambda step, loss: tell(step, f"loss {loss:.4f}"))
    seeing.save_encoder(found, out)
    if test is not None:
        print(_sight(seeing, found, seeing.load_scenes(test)))
    print(out)


def _sight(seeing: Any, found: Any, test: Any) -> str:
    import numpy as np

    off, known = seeing.errors(found, test)
    rows = [
        f"{name}: off by {np.median(column):.4f} (median), {np.quantile(column, 0.9):.4f} (90 %)"
        for name, column in zip(seeing.SEEN, off.T, strict=True)
    ]
    return "\n".join([*rows, f"safe known in {known:.1%} of {len(off)} clouds"])


SUBCOMMANDS: dict[str, Callable[..., int | None]] = {
    "train": train,
    "describe": describe,
    "open-loop": open_loop,
    "scenes": scenes,
    "encoder": encoder,
}
"""Names of the subcommands; each returns its exit code, or None for 0."""
