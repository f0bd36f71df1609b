"""Prepares a pretrained pi0 or pi0.5 of LeRobot for training on RuleSafe:

python -m lerobot_env_rulesafe.prepare pi0_base demos/meta/export.json pi0_memory
"""

import json
import sys
from pathlib import Path
from typing import Any

import tyro
from lerobot.envs.utils import env_to_policy_features

from lerobot_env_rulesafe.config import RuleSafeEnvConfig
from lerobot_env_rulesafe.env import PREPROCESSOR
from lerobot_env_rulesafe.memory import MemoryTokensProcessorStep
from rulesafe_core.cameras import DEFAULT_CAMERAS
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.files import draft_folder
from rulesafe_core.text_files import read_json
from rulesafe_data.files import write_json
from rulesafe_data.layout import STATE, image_key

CONFIG = "config.json"

PROMPT = {"pi0": 96, "pi05": 248}
"""Maximum number of tokens of a prompt, by LeRobot's type of the policy. LeRobot truncates longer
ones; its defaults, 48 and 200, have room for short instructions only."""

STEP = f"{MemoryTokensProcessorStep.__module__}.{MemoryTokensProcessorStep.__name__}"


def prepare(
    pretrained: tyro.conf.Positional[Path],
    export: tyro.conf.Positional[Path],
    out: tyro.conf.Positional[Path],
    memory: bool = True,
) -> None:
    """Write a policy for `lerobot-train --policy.path=OUT`: the pretrained weights, with the
    cameras, joints and memory of a dataset of RuleSafe.

    Args:
        pretrained: Folder of a pretrained pi0 or pi0.5, such as a download of lerobot/pi0_base.
        export: meta/export.json of the dataset, as `rulesafe demos export` wrote it.
        out: New folder. Its weights are links to those of `pretrained`.
        memory: Append the dataset's memory tokens to the prompt.

    Raises:
        RuleSafeError: `pretrained` is not such a policy, `export` has no memory, or `out` exists.
    """
    config, preprocessor = (
        json.loads((pretrained / name).read_text("utf-8")) for name in (CONFIG, PREPROCESSOR)
    )
    if (kind := config.get("type")) not in PROMPT:
        raise RuleSafeError(f"{pretrained} has the policy {kind!r}; valid: {', '.join(PROMPT)}")
    steps = [step for step in preprocessor["steps"] if step.get("class") != STEP]
    names = [step.get("registry_name") for step in steps]
    if names.count("tokenizer_processor") != 1:
        raise RuleSafeError(f"{pretrained / PREPROCESSOR} must have one tokenizer_processor")
    tokenizer = names.index("tokenizer_processor")
    settings = steps[tokenizer]["config"]
    settings["max_length"] = max(settings["max_length"], PROMPT[kind])
    if memory:
        description = read_json(export, "an export's description").get("memory")
        if description is None:
            raise RuleSafeError(
                f"{export} has no memory: export the dataset with --memory-model, or add "
                "--no-memory"
            )
        step = {"class": STEP, "config": {"memory": description}}
        if any(other != step for other in preprocessor["steps"] if other.get("class") == STEP):
            raise RuleSafeError(f"{pretrained} has the tokens of another memory than {export}")
        steps.insert(tokenizer + 1, step)
    if out.exists():
        raise RuleSafeError(f"{out} exists: give a new folder")
    with draft_folder(out) as draft:
        for file in pretrained.iterdir():
            if file.is_file() and file.name not in (CONFIG, PREPROCESSOR):
                (draft / file.name).symlink_to(file.resolve())
        write_json(draft / PREPROCESSOR, {**preprocessor, "steps": steps})
        write_json(draft / CONFIG, {**config, "input_features": _features()})


def _features() -> dict[str, Any]:
    """Return what the policy observes, in the order of its images: the base camera first."""
    features = env_to_policy_features(RuleSafeEnvConfig())
    keys = (*map(image_key, reversed(DEFAULT_CAMERAS.names)), STATE)
    return {key: {"type": features[key].type.value, "shape": features[key].shape} for key in keys}


if __name__ == "__main__":
    try:
        tyro.cli(prepare)
    except (RuleSafeError, OSError) as error:
        sys.exit(f"error: {error}")
