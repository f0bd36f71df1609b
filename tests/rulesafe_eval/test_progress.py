"""Progress lines while an episode runs, at most one per interval."""

from rulesafe_eval.progress import EpisodeProgress
from rulesafe_sim.episode import TaskSnapshot


def at(time: float, steps_done: int = 0) -> TaskSnapshot:
    return TaskSnapshot(
        rule="rule_001",
        safe="safe_02",
        seed=0,
        plan=("knob+", "handle+", "door+"),
        steps_done=steps_done,
        process_score=0.0,
        order_free_score=0.0,
        part_open={},
        success=False,
        frame=0,
        time=time,
        clipped_actions=0,
        state_digest="",
    )


def lines(speed: float, seconds: float, time_limit: float = 240.0) -> list[str]:
    """Lines printed within `seconds` of wall time at `speed` simulated seconds per wall second."""
    wall = 0.0
    progress = EpisodeProgress(time_limit, lambda: wall)
    lines = []
    while wall < seconds:
        wall += 0.5
        lines.append(progress.line(at(wall * speed, steps_done=int(wall * speed >= 20))))
    return [line for line in lines if line]


def test_what_a_line_says():
    assert lines(1.0, 25.0) == [
        "rule_001 on safe_02, seed 0: 10.0 s of 240 s simulated, step 1/3",
        "rule_001 on safe_02, seed 0: 20.0 s of 240 s simulated, step 2/3",
    ]


def test_a_line_each_ten_seconds_of_the_slower_clock():
    assert len(lines(0.1, 200.0)) == 2, "of simulated time"
    assert len(lines(20.0, 45.0)) == 4, "of wall time"
    assert lines(0.0, 600.0) == [], "simulated time is paused"
    assert lines(4.0, 9.0) == [], "a short episode prints only its result"


def test_an_opened_safe_has_no_further_step():
    wall = [0.0]
    progress = EpisodeProgress(60.0, lambda: wall[0])
    wall[0] = 30.0
    assert str(progress.line(at(30.0, steps_done=3))).endswith("step 3/3")
