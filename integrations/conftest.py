"""An episode of the expert, whose actions other programs repeat, and the plugin of LeRobot."""

import os
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

from rulesafe_eval.oracles import ORACLES
from rulesafe_eval.request import Setup
from rulesafe_eval.runner import EpisodeRunner, actions_file
from rulesafe_sim.episodes import plan_episodes

PLUGIN = Path(__file__).parent / "lerobot_env_rulesafe"


@pytest.fixture(scope="session")
def conditions():
    """Safes and split of the episodes."""
    return {"safes": "safe_02,safe_04", "split": "nominal"}


@pytest.fixture(scope="session")
def opened(made_once, conditions):
    """The expert's episode 0 of rule_002: the file of its actions, (N, 13) rad."""

    def make(folder):
        episode = plan_episodes("rule_002", episodes=1, **conditions).episode("rule_002", 0)
        line = EpisodeRunner(Setup("expert")).play(ORACLES["expert"], folder, episode)
        assert line["opened"]

    return actions_file(made_once("opened_by_the_expert", make), "rule_002", 0)


@pytest.fixture(scope="session")
def steps(opened):
    """The number of steps of this episode."""
    return len(np.load(opened))


@pytest.fixture(scope="session")
def environment():
    """The module of the environment of LeRobot's plugin, which needs no LeRobot."""
    path = PLUGIN / "lerobot_env_rulesafe/env.py"
    specification = spec_from_file_location("lerobot_env_rulesafe_env", path)
    module = module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


LEROBOT_REQUIRES = (
    *("torchvision==0.28.0", "accelerate==1.15.0", "deepdiff<9", "diffusers<0.36"),
    *("draccus==0.10.0", "huggingface-hub<0.36", "transformers<5", "tokenizers<0.23"),
    *("einops", "imageio", "imageio-ffmpeg", "jsonlines", "pandas", "pyserial", "termcolor"),
    # what these require
    *("dill", "httpx", "importlib-metadata", "mergedeep", "multiprocess", "mypy-extensions"),
    *("orderly-set", "psutil", "python-dateutil", "pyyaml-include<2", "toml", "typing-inspect"),
    *("xxhash", "zipp"),
)
"""What programs of lerobot 0.4.4 and 0.3.3 import: about 110 MB. The rest is installed in newer
versions than those that lerobot requires."""

OPERATORS = """
import torch

# torchvision is built for CUDA: beside a PyTorch for the CPU its operators are missing, and its
# import fails at the two that it describes. No program here uses them.
if not torch.cuda.is_available():
    library = torch.library.Library("torchvision", "DEF")
    for name in ("nms", "qnms"):
        library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
"""


@pytest.fixture(scope="session")
def lerobot(peers):
    """lerobot(CODE, *arguments, version="0.4.4", cwd=None): the finished process of a program that
    can import LeRobot and its plugin for RuleSafe."""
    pytest.importorskip("torch", reason="the extra learn is not installed")

    def run(code, *arguments, version="0.4.4", cwd=None):
        datasets = "datasets<4" if version < "0.4" else "datasets>=4,<5"
        made = peers(f"lerobot_{version}", f"lerobot=={version}", datasets)
        made |= {"HF_HUB_OFFLINE": "1"}
        required = peers("lerobot_requires", *LEROBOT_REQUIRES, PLUGIN)["PYTHONPATH"]
        made["PYTHONPATH"] += os.pathsep + required
        command = [sys.executable, "-c", OPERATORS + code, *map(str, arguments)]
        return subprocess.run(
            command, capture_output=True, text=True, timeout=600, env=made, cwd=cwd
        )

    return run
