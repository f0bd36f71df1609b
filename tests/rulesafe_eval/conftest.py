"""Episodes of the expert, and a policy that repeats their actions."""

from functools import cache

import numpy as np
import pytest

from policy_node.policy import CHUNK, Needs
from rulesafe_eval import runner
from rulesafe_eval.oracles import ORACLES
from rulesafe_eval.request import Setup, make_request
from rulesafe_eval.runner import actions_file, play


@pytest.fixture(scope="session", autouse=True)
def reachable_poses():
    """Search a reachable pose once for each safe, rule, split and seed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner, "reachable_variation", cache(runner.reachable_variation))
        yield


@pytest.fixture(scope="session")
def request_for():
    """A function that makes small requests."""

    def make(policy="expert", rules="rule_002", episodes=2, **words):
        words = {"safes": "safe_02,safe_04", "split": "nominal", "seed": 0, **words}
        return make_request(Setup(policy), {}, rules, episodes=episodes, **words)

    return make


@pytest.fixture(scope="session")
def opened(request_for, tmp_path_factory):
    """The expert's episode 0 of rule_002: (request, line, actions)."""
    folder, request = tmp_path_factory.mktemp("opened"), request_for()
    line = play(ORACLES["expert"], request.setup, request.episode("rule_002", 0), folder)
    return request, line, np.load(actions_file(folder, "rule_002", 0))


class Replaying:
    """Returns the recorded actions of the same frames, and keeps its observations."""

    def __init__(self, actions, execute, needs=Needs()):
        self.needs, self._execute = needs, execute
        self._actions = np.concatenate([actions, np.repeat(actions[-1:], CHUNK, axis=0)])
        self.reset()

    def reset(self):
        self.asked, self.seen = 0, []

    def infer(self, observation):
        at = min(self.asked * self._execute, len(self._actions) - CHUNK)
        self.asked += 1
        self.seen.append(observation)
        return self._actions[at : at + CHUNK].astype(np.float32)


@pytest.fixture(scope="session")
def replaying():
    return Replaying
