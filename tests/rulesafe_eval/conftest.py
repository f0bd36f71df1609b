"""Episodes of the expert, and a policy that repeats their actions."""

from functools import cache

import numpy as np
import pytest

from policy_node.policy import CHUNK, Needs
from rulesafe_eval import runner
from rulesafe_eval.oracles import ORACLES
from rulesafe_eval.request import Setup, make_request
from rulesafe_eval.runner import actions_file
from rulesafe_sim.episodes import plan_episodes


@pytest.fixture(scope="session", autouse=True)
def reachable_poses():
    """Search a reachable pose once for each episode."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner, "place", cache(runner.place))
        yield


@pytest.fixture(scope="session")
def request_for():
    """A function that makes small requests."""

    def make(policy="expert", rules="rule_002", episodes=2, **words):
        words = {"safes": "safe_02,safe_04", **words}
        return make_request(Setup(policy), {}, plan_episodes(rules, episodes=episodes, **words))

    return make


@pytest.fixture(scope="session")
def opened(request_for, tmp_path_factory):
    """The expert's episode 0 of rule_002: (request, line, actions)."""
    folder, request = tmp_path_factory.mktemp("opened"), request_for()
    runner_of = runner.EpisodeRunner(request.setup)
    line = runner_of.play(ORACLES["expert"], folder, request.episode("rule_002", 0))
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
