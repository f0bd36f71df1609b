"""An episode of the expert, whose actions other programs repeat, and the plugin of LeRobot."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

from rulesafe_eval.oracles import ORACLES
from rulesafe_eval.request import Setup, make_request
from rulesafe_eval.runner import actions_file, play

PLUGIN = Path(__file__).parent / "lerobot_env_rulesafe"


@pytest.fixture(scope="session")
def conditions():
    """Safes and split of the episodes."""
    return {"safes": "safe_02,safe_04", "split": "nominal"}


@pytest.fixture(scope="session")
def opened(made_once, conditions):
    """The expert's episode 0 of rule_002: the file of its actions, (N, 13) rad."""

    def make(folder):
        request = make_request(Setup("expert"), {}, "rule_002", episodes=1, seed=0, **conditions)
        line = play(ORACLES["expert"], request.setup, request.episode("rule_002", 0), folder)
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
