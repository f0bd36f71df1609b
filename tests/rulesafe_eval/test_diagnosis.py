"""Causes of failure, of a stub simulation in which parts move and are touched as stated."""

from types import SimpleNamespace

import pytest

from rulesafe_eval.diagnosis import TOUCH, Diagnosis
from rulesafe_locks.rules import PARTS, load_rule
from rulesafe_locks.scores import Progress
from rulesafe_sim.episode import Activity, EpisodeRecord


class Stub:
    """A simulation of a rule; each frame has one event or none, and contact forces (N)."""

    def __init__(self, rule):
        self.rule = load_rule(rule)
        self.progress = Progress(self.rule)
        self.frame, self.external_torques, self.forces = 0, {}, {}

    def snapshot(self):
        phases = dict(zip(PARTS, self.progress.state.phases, strict=True))
        steps = self.progress.steps_done
        found = {"part_open": phases, "steps_done": steps, "frame": self.frame}
        return SimpleNamespace(**found, success=self.progress.success)

    def state(self):
        return SimpleNamespace(contact_forces=self.forces)


def diagnose(rule, *frames):
    """Return the facts after these frames: an event such as "knob+", forces such as {"knob": 0.5},
    or a torque on a part during an event, such as "knob knob-"."""
    simulation, diagnosis = Stub(rule), Diagnosis()
    diagnosis(simulation, None, Activity())
    for frame in frames:
        torque, _, event = frame.rpartition(" ") if isinstance(frame, str) else ("", "", "")
        simulation.frame += 1
        simulation.forces = {} if isinstance(frame, str) else frame
        simulation.external_torques = {torque: 0.1} if torque else {}
        if event:
            simulation.progress.take(event)
        diagnosis(simulation, None, Activity())
    progress = simulation.progress
    record = EpisodeRecord(rule, plan=tuple(progress.plan), steps_done=progress.steps_done)
    return diagnosis.facts(record)


@pytest.mark.parametrize(
    ("frames", "cause", "due"),
    [
        (["knob+", "knob knob-", {"handle": 9}], "not_touched", "knob+"),
        (["knob+", "knob knob-", "knob+"], "not_touched", "handle+"),
        (["knob+", {"handle": 9}, "knob knob-", "knob+"], "not_touched", "handle+"),
        (["knob+", "knob knob-", "knob+", "knob-"], "wrong_move", "knob+"),
        (["knob+", "handle+", "knob handle-"], "wrong_move", "handle+"),  # another part moved
    ],
)
def test_the_repetition_of_a_step_that_was_undone_is_progress(frames, cause, due):
    facts = diagnose("rule_001", *frames)
    assert (facts["cause"], facts["due"]) == (cause, due)


@pytest.mark.parametrize(
    ("rule", "frames", "cause", "due", "touched"),
    [
        ("rule_001", [{"self": 9}, {"handle": 9}], "not_touched", "knob+", ["handle"]),
        ("rule_001", [{"knob": TOUCH - 0.01}], "not_touched", "knob+", []),
        ("rule_001", [{"knob": TOUCH}], "not_moved", "knob+", ["knob"]),
        ("rule_001", [{"knob": 9}, "knob+"], "not_touched", "handle+", []),
        ("rule_001", ["knob+", "handle+", {"knob": 9}], "not_touched", "door+", ["knob"]),
        ("rule_001", ["knob+", "handle+", {"handle": 9}], "not_moved", "door+", ["handle"]),
        ("rule_001", ["knob+", "handle+", {"door": 9}], "not_moved", "door+", ["door"]),
        ("rule_001", ["knob+", "knob-", {"knob": 9}], "wrong_move", "knob+", ["knob"]),
        ("rule_017", ["knob+", "knob-"] * 2 + ["knob+"], "dead_end", "", []),
    ],
)
def test_the_cause_of_a_failure(rule, frames, cause, due, touched):
    facts = diagnose(rule, *frames)
    assert (facts["cause"], facts["due"], facts["touched"]) == (cause, due, touched)
    assert TOUCH == 0.5, "stated in docs/evaluation.md"


def test_an_episode_without_a_reachable_pose_has_the_cause_out_of_reach():
    facts = Diagnosis().facts(EpisodeRecord("rule_001", plan=("knob+", "door+")))
    assert (facts["cause"], facts["due"]) == ("out_of_reach", "knob+")
