"""Training configurations of openpi for pi0 and pi0.5 on RuleSafe.

`_CONFIGS` of openpi's `training/config.py` includes them by::

    *rulesafe_configs.train_configs("rulesafe/demos", "/data/rulesafe/demos/meta/export.json"),
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from openpi import transforms
from openpi.models.pi0_config import Pi0Config
from openpi.training.weight_loaders import CheckpointWeightLoader

from rulesafe_openpi.transforms import (
    ARM,
    HAND,
    REPACK,
    REPACK_MEMORY,
    AppendMemoryTokens,
    RuleSafeInputs,
    RuleSafeOutputs,
)

if TYPE_CHECKING:
    from openpi.training.config import SimpleDataConfig, TrainConfig

HORIZON = 50
"""Number of steps of a chunk: 5 s at 10 Hz."""

PROMPT, PROMPT_AND_STATE = 96, 160
"""Maximum number of tokens of an instruction (pi0), and of an instruction with the discretised
state (pi0.5). openpi truncates longer ones; its default for pi0, 48, is too short for the long
instructions."""

LORA = {"paligemma_variant": "gemma_2b_lora", "action_expert_variant": "gemma_300m_lora"}

WEIGHTS = "gs://openpi-assets/checkpoints/{}_base/params"


def train_configs(repo_id: str, export: str | Path) -> list["TrainConfig"]:
    """Return pi0_rulesafe, pi0_rulesafe_lora and pi05_rulesafe; for a dataset with memory tokens
    also each of them with the suffix _memory.

    Args:
        repo_id: dataset in LeRobot's format v2.1, as written by `rulesafe demos export`.
        export: meta/export.json of the dataset.

    Raises:
        OSError, ValueError, KeyError: `export` is not such a file.
    """
    request = json.loads(Path(export).read_text("utf-8"))
    length, memory = request["instruction"], request.get("memory")
    found = _configs(repo_id, "", length, None)
    return found + _configs(repo_id, "_memory", length, memory) if memory else found


def _configs(
    repo_id: str, suffix: str, instruction: str, memory: Mapping[str, Any] | None
) -> list["TrainConfig"]:
    # Here, since openpi.training.config imports this module.
    from openpi.training.config import TrainConfig

    length = memory["length"] if memory else 0
    pi0 = Pi0Config(action_horizon=HORIZON, max_token_len=PROMPT + length)
    lora = replace(pi0, **LORA)
    pi05 = Pi0Config(pi05=True, action_horizon=HORIZON, max_token_len=PROMPT_AND_STATE + length)
    common = {"data": data_config(repo_id, memory), "num_train_steps": 30_000, "batch_size": 32}
    # `rulesafe eval` then sends these inputs, and checks the hash of the memory.
    needs = {"images": True, "instruction": True, "instruction_length": instruction}
    needs["memory"] = memory is not None
    described = {"needs": needs, "memory": None if memory is None else dict(memory)}
    common["policy_metadata"] = {"rulesafe": described}
    return [
        TrainConfig(
            name=f"pi0_rulesafe{suffix}",
            model=pi0,
            weight_loader=CheckpointWeightLoader(WEIGHTS.format("pi0")),
            **common,
        ),
        TrainConfig(
            name=f"pi0_rulesafe_lora{suffix}",
            model=lora,
            weight_loader=CheckpointWeightLoader(WEIGHTS.format("pi0")),
            freeze_filter=lora.get_freeze_filter(),
            ema_decay=None,
            **common,
        ),
        TrainConfig(
            name=f"pi05_rulesafe{suffix}",
            model=pi05,
            weight_loader=CheckpointWeightLoader(WEIGHTS.format("pi05")),
            **common,
        ),
    ]


def data_config(repo_id: str, memory: Mapping[str, Any] | None = None) -> "SimpleDataConfig":
    """Return the `DataConfigFactory` of a dataset: actions of the arm relative to the state, of the
    hand absolute; the prompt is the dataset's task.

    Args:
        repo_id: see `train_configs`.
        memory: description of the memory in meta/export.json; None: without memory.
    """
    from openpi.training.config import DataConfig, ModelTransformFactory, SimpleDataConfig

    relative = transforms.make_bool_mask(ARM, -HAND)
    data_transforms = transforms.Group(
        inputs=[RuleSafeInputs(memory is not None), transforms.DeltaActions(relative)],
        outputs=[transforms.AbsoluteActions(relative), RuleSafeOutputs()],
    )
    appended = [AppendMemoryTokens(memory["clusters"])] if memory else []
    repack = REPACK | (REPACK_MEMORY if memory else {})
    return SimpleDataConfig(
        repo_id=repo_id,
        base_config=DataConfig(
            repack_transforms=transforms.Group(inputs=[transforms.RepackTransform(repack)]),
            action_sequence_keys=("action",),
            prompt_from_task=True,
        ),
        data_transforms=lambda model: data_transforms,
        model_transforms=lambda model: ModelTransformFactory()(model).push(inputs=appended),
    )
