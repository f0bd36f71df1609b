"""The expert corrects a policy where it makes no progress."""

import pytest

pytest.importorskip("torch")

from rulesafe_core.errors import RuleSafeError
from rulesafe_sim.episode import POLICY
from rulesafe_sim.runtime import Runtime
from rulesafe_sim.simulation import Simulation
from rulesafe_studies import corrections

STILL = """
import numpy as np
from policy_node.policy import Needs

class Still:
    needs = Needs()

    def reset(self):
        self.inferences = []

    def infer(self, observation):
        self.inferences.append(observation.joints[-1])
        return np.repeat(observation.joints[-1:], 50, axis=0)
"""


@pytest.fixture
def policy(tmp_path, monkeypatch):
    (tmp_path / "still_arm.py").write_text(STILL)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv(corrections.POLICY, "still_arm:Still")
    monkeypatch.setattr(corrections, "PATIENCE", (1.0, 2.0))
    return corrections.CorrectedPolicy()


@pytest.mark.episode
def test_a_policy_without_progress_is_corrected_until_the_door_is_open(policy):
    simulation, rows = Simulation(), []
    simulation.reset("rule_001", "safe_02", 3)

    def record(simulation, action, activity):
        rows.append((activity.operation, activity.event))

    found = Runtime(simulation, 120.0, [record]).run(policy, stop=False)
    assert found.success, found.reason
    assert next(event for operation, event in rows if operation == "pinch") == "knob+"
    corrected = [event for operation, event in rows if operation in ("turn", "pull")]
    assert list(dict.fromkeys(corrected)) == ["knob+", "handle+", "door+"]
    waited = [at for at, (operation, _) in enumerate(rows) if operation == POLICY]
    assert 10 <= len(waited) <= 80, "three times 1 to 2 s"
    assert found.log.retries == 3


def test_the_policy_must_be_named(monkeypatch):
    monkeypatch.delenv(corrections.POLICY, raising=False)
    with pytest.raises(RuleSafeError, match=f"set {corrections.POLICY}"):
        corrections.CorrectedPolicy()
