"""The loop of an episode: agent, simulation, subscribers, record. No physics: a stand-in."""

from dataclasses import replace

import numpy as np
import pytest

from rulesafe_sim.episode import Activity, AgentError, EpisodeRecord, EpisodeTracker, TaskSnapshot
from rulesafe_sim.runtime import Agent, Playback, Runtime

START = TaskSnapshot("rule_002", "safe_01", 3, ("knob+", "door+"))


class Scripted:
    """A simulation whose knob opens with the third frame and whose door with the fifth."""

    def __init__(self):
        self.frame = 0

    def step(self, action):
        self.frame += 1

    def snapshot(self):
        part_open = {"knob": self.frame >= 3, "handle": False, "door": self.frame >= 5}
        return replace(
            START,
            part_open=part_open,
            success=self.frame >= 5,
            steps_done=sum(part_open.values()),
            frame=self.frame,
            time=self.frame / 10,
        )


class Waving(Agent):
    """Acts for ten frames; stuck at `stuck`."""

    activity = Activity(1, "knob+", 1, "turn")

    def __init__(self, stuck=99):
        self._stuck = stuck

    def reset(self, simulation):
        self.log.steps.append("began")

    def act(self, simulation):
        if simulation.frame == self._stuck:
            raise AgentError("cannot go on")
        return np.zeros(13) if simulation.frame < 10 else None


def run(agent, **words):
    seen = []
    subscriber = lambda simulation, action, activity: seen.append((simulation.frame, activity))  # noqa: E731
    stop = words.pop("stop", True)
    return Runtime(Scripted(), subscribers=[subscriber], **words).run(agent, stop=stop), seen


def test_it_ends_with_the_open_door():
    record, seen = run(Waving())
    assert record.success and record.reason == "" and record.frame == 5
    assert [(change.event, change.time) for change in record.events] == [
        ("knob+", 0.3),
        ("door+", 0.5),
    ]
    assert seen == [(0, Activity()), *((frame, Waving.activity) for frame in range(1, 6))]
    assert record.log.steps == ["began"]


def test_the_agent_may_complete_what_it_does():
    record, seen = run(Waving(), stop=False)
    assert record.success and record.frame == 10 and len(seen) == 11


@pytest.mark.parametrize(
    ("agent", "time_limit", "frames", "reason"),
    [
        (Waving(), 0.4, 4, "time limit of 0.4 s"),
        (Waving(stuck=2), 9.0, 2, "cannot go on"),
        (Playback(np.zeros((3, 13))), 9.0, 3, "the agent has finished, and the door is not open"),
    ],
)
def test_a_failure_has_its_reason(agent, time_limit, frames, reason):
    record, _ = run(agent, time_limit=time_limit)
    assert not record.success and record.frame == frames
    assert record.reason.startswith(reason)
    assert f"failed at {Scripted().snapshot().next_step[:4]}" in record.outcome


def test_an_episode_that_was_not_simulated_has_a_record_like_any_other():
    record = EpisodeRecord("rule_002", "safe_01", 3, ("knob+", "door+"), reason="out of reach")
    assert (record.success, record.reason, record.frame) == (False, "out of reach", 0)
    assert record.to_dict().keys() == run(Waving())[0].to_dict().keys()


def test_the_first_end_is_the_record_and_may_be_set_again():
    tracker = EpisodeTracker(9.0)
    tracker.update(START)
    assert tracker.record is None
    assert tracker.end("enough").reason == "enough"
    tracker.update(replace(START, success=True, time=0.1))
    assert tracker.record and tracker.record.reason == "enough"
