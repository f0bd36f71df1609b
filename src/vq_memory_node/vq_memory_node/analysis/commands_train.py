"""`rulesafe memory train`. What it needs is imported when it runs."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from rulesafe_core.errors import RuleSafeError
from vq_memory_node.train_config import TrainConfig

if TYPE_CHECKING:
    from vq_memory_node.training import Progress

Data = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="DATA")]


def train(
    data: Data,
    out: Path,
    config: Annotated[TrainConfig, tyro.conf.OmitArgPrefixes] = TrainConfig(),
) -> None:
    """Train a memory on joint positions: a codebook of windows, and its clusters.

    Called again with the same words it goes on where it stopped. OUT/tensorboard has the log.

    Example: rulesafe memory train datasets/rule_001_rule_020.parquet --out memory

    Args:
        data: A .parquet file of `rulesafe demos export`, a dataset, or recordings.
        out: Folder for the model.
    """
    try:
        from vq_memory_node import training
    except ModuleNotFoundError as error:
        raise RuleSafeError(
            f"training needs {error.name}, which is not installed: pip install 'rulesafe[learn]'"
        ) from error
    from rulesafe_data.training_bar import training_bar
    from vq_memory_node.analysis.trajectories import load_trajectories
    from vq_memory_node.model_files import load_model

    _check_folder(out)
    positions = load_trajectories(data).positions
    with training_bar(config.steps, "batch") as tell:

        def show(progress: "Progress") -> None:
            text = f"loss {progress.loss:.1f}, perplexity {progress.perplexity:.0f}"
            tell(progress.step, text)

        try:
            training.train(positions, config, out, show)
        except KeyboardInterrupt:
            print("\ninterrupted: the same command goes on from a checkpoint", file=sys.stderr)
            raise
    model = load_model(out)
    for part, figures in model.training["results"].items():
        told = ", ".join(f"{name} {value:.4g}" for name, value in figures.items())
        print(f"{part}: {told}")
    print(f"{out}: model {model.hash[:12]}, clusters {', '.join(map(str, model.clusterings))}")


def _check_folder(out: Path) -> None:
    """Errors: RuleSafeError where a folder holds other things than a memory or its training: a
    model among them would pass for a part of them, and tools would read it as one."""
    from vq_memory_node.checkpoints import CHECKPOINT
    from vq_memory_node.model_files import ARRAY_FILE, JSON_FILE

    own = {CHECKPOINT, ARRAY_FILE, JSON_FILE, "tensorboard"}
    found = {path.name for path in out.glob("*") if not path.name.startswith(".")}
    if JSON_FILE not in found and (others := sorted(found - own)):
        more = ", ..." if len(others) > 3 else ""
        raise RuleSafeError(
            f"{out} is no memory's folder: it holds {', '.join(others[:3])}{more}; give --out "
            "another, new or empty"
        )
