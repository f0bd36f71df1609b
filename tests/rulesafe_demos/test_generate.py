"""Whole runs in processes of their own: killed, interrupted, without room, by Ray."""

import os
import resource
import signal
from pathlib import Path

import pytest
from waiting import wait_for

from rulesafe_cli.cli import main
from rulesafe_data.attempt_recording import read
from rulesafe_data.demo_folder import DemoFolder
from rulesafe_demos.attempts import load_request

pytestmark = pytest.mark.episode


def children(pid):
    """The processes that a process has started and not yet waited for."""
    return [
        int(p)
        for t in Path(f"/proc/{pid}/task").iterdir()
        for p in (t / "children").read_text().split()
    ]


def workers(pid):
    command = {child: Path(f"/proc/{child}/cmdline").read_bytes() for child in children(pid)}
    return [child for child, line in command.items() if b"spawn_main" in line]


def test_the_first_successes_in_turn_on_the_safes(demonstrations):
    request = load_request(demonstrations)
    episodes = DemoFolder(demonstrations).episodes(request.rules, request.episodes)
    facts = [
        read(DemoFolder(demonstrations).file(rule, attempt, success=True)).facts
        for rule, attempt in episodes
    ]
    assert len(facts) == 3
    assert all(fact["success"] and not fact["failure"] for fact in facts)
    assert {fact["safe"] for fact in facts} == {"safe_02", "safe_04"}
    assert len({fact["seed"] for fact in facts}) == 3


def test_a_lock_of_one_s_own_is_opened_and_replayed(own_lock, tmp_path, capsys, monkeypatch):
    demos = tmp_path / "demos"
    monkeypatch.chdir(own_lock.parent)
    words = [
        "--rules",
        own_lock.name,
        "--episodes",
        "1",
        "--safes",
        "safe_02",
        "--passes",
        "states",
    ]
    assert main(["demos", "generate", *words, "--out", str(demos)]) == 0
    monkeypatch.chdir(tmp_path)
    facts = read(DemoFolder(demos).file("my_lock", 0, success=True)).facts
    assert (facts["rule"], facts["lock"]) == ("my_lock", str(own_lock))
    assert (facts["instruction"], facts["plan"]) == ("Open the knob.", ["knob+", "door+"])
    assert main(["demos", "replay", str(demos), "0"]) == 0
    assert "my_lock on safe_02" in capsys.readouterr().out


def test_programs_demonstrate_without_reading_the_lock(tmp_path, capsys):
    """The first program is that of the shortest plan; the others are files, run in the sandbox: one
    that opens the door, and one that leaves it closed."""
    words = ["--episodes", "1", "--safes", "safe_02", "--passes", "states", "--by", "programs"]
    demos = tmp_path / "demos"
    assert main(["demos", "generate", "--rules", "rule_002", *words, "--out", str(demos)]) == 0
    facts = read(DemoFolder(demos).file("rule_002", 0, success=True)).facts
    assert facts["by"] == "programs" and facts["events"] == ["knob+", "door+"]
    assert main(["demos", "replay", str(demos), "0"]) == 0
    assert main(["demos", "generate", *words, "--misses", "0.5", "--out", str(tmp_path)]) == 2
    assert "misses must be in 0..1, below 1, and are made by the expert" in capsys.readouterr().err

    programs, own = tmp_path / "programs", tmp_path / "own"
    programs.mkdir()
    (programs / "rule_001.py").write_text('planner.hand_open("right")\n')
    words += ["--attempts", "1", "--programs", str(programs), "--out", str(own)]
    assert main(["demos", "generate", "--rules", "rule_001,rule_002", *words]) == 2
    assert "has no program rule_002.py" in capsys.readouterr().err
    (programs / "rule_002.py").write_text(facts["program"])
    assert main(["demos", "generate", "--rules", "rule_001,rule_002", *words]) == 1
    opened = read(DemoFolder(own).file("rule_002", 0, success=True)).facts
    assert opened["program"] == facts["program"] and opened["digest"] == facts["digest"]
    closed = read(DemoFolder(own).file("rule_001", 0, success=False)).facts
    assert closed["failure"] == "the program ended, and the door is not open"

    (programs / "rule_002.py").write_text("pass\n")
    assert main(["demos", "generate", "--rules", "rule_001,rule_002", *words]) == 2
    assert "another request" in capsys.readouterr().err


@pytest.mark.thorough  # evaluations have the same engine, and test_runs.py kills one
def test_killed_half_way_and_called_again_it_makes_the_same_set(
    generate, demonstrations, attempts, tmp_path
):
    command = generate(tmp_path / "demos")
    wait_for(lambda: list(tmp_path.glob("demos/recordings/*/*.parquet")))
    (worker,) = workers(command.process.pid)
    command.process.kill()
    command.end()
    wait_for(lambda: not Path(f"/proc/{worker}").exists())  # or else it ends with its attempt
    made = attempts(tmp_path / "demos")
    assert 0 < len(made) < 3
    damaged = tmp_path / "demos" / next(iter(made))
    damaged.write_bytes(bytes(len(damaged.read_bytes())))  # as after a power cut
    code, _, err = generate(tmp_path / "demos", "--workers", "2").end()
    assert code == 0, err
    assert f"removed and generated again: {damaged}" in err
    assert attempts(tmp_path / "demos") == attempts(demonstrations)


def test_a_killed_worker_loses_its_attempt_alone(generate, demonstrations, attempts, tmp_path):
    command = generate(tmp_path / "demos", "--workers", "2")
    wait_for(lambda: list(tmp_path.glob("demos/recordings/*/*.parquet")))
    os.kill(workers(command.process.pid)[0], signal.SIGKILL)
    code, _, err = command.end()
    assert code == 0, err
    assert attempts(tmp_path / "demos") == attempts(demonstrations)


def test_an_interrupted_run_says_that_it_can_go_on(generate, tmp_path):
    command = generate(tmp_path / "demos")
    wait_for(lambda: (tmp_path / "demos" / "generate.json").exists())
    wait_for(lambda: workers(command.process.pid))
    command.process.send_signal(signal.SIGINT)
    code, _, err = command.end()
    assert code == 130, err
    assert "repeat the command to resume" in err
    assert "Traceback" not in err
    assert not list(tmp_path.rglob(".*.parquet*"))


def test_without_room_it_stops_and_leaves_nothing_half_written(generate, attempts, tmp_path):
    def small_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))

    code, _, err = generate(tmp_path / "demos", preexec_fn=small_files).end()
    assert code == 2
    assert "cannot write" in err and "Traceback" not in err
    assert attempts(tmp_path / "demos") == {}


def test_another_request_is_refused(generate, demonstrations, attempts):
    before = attempts(demonstrations)
    code, _, err = generate(demonstrations, "--seed", "1").end()
    assert code == 2
    assert "seed: 0 in the directory, 1 requested" in err
    assert attempts(demonstrations) == before


SPLIT_OUT_OF_REACH = """\
title: Safes behind the robot's back.
safes: [safe_02]
placement:
  left_hinge: {xyz_m: [-1.5, 0.0, 0.28], yaw_rad: 0}
  right_hinge: {xyz_m: [-1.5, 0.0, 0.28], yaw_rad: 0}
  xyz_m: [0.01, 0.01, 0.01]
  yaw_rad: 0.01
"""


def test_a_safe_out_of_reach_is_a_failure_that_says_so(tmp_path, capsys):
    (tmp_path / "far.yaml").write_text(SPLIT_OUT_OF_REACH)
    words = ["--episodes", "1", "--attempts", "1", "--passes", "states", "--rules", "rule_002"]
    words += ["--split", str(tmp_path / "far.yaml"), "--out", str(tmp_path / "demos")]
    assert main(["demos", "generate", *words]) == 1
    assert "too few episodes of rule_002" in capsys.readouterr().out
    path = DemoFolder(tmp_path / "demos").file("rule_002", 0, success=False)
    facts = read(path).facts
    assert "out of the arm's reach at all" in facts["failure"] and facts["resampled"] > 0
    assert main(["demos", "replay", str(path)]) == 2
    assert "nothing to replay: " in capsys.readouterr().err
