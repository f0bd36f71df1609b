"""Submissions: what an evaluation states is executed again, and no change remains unnoticed."""

import base64
import copy
import json
import os
import shutil
import subprocess
import sys
import zlib
from dataclasses import asdict
from functools import reduce
from operator import getitem

import numpy as np
import pytest
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

from policy_node.policy import Needs
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.versions import PHYSICS
from rulesafe_eval import runner, submission
from rulesafe_eval.agents import is_privileged
from rulesafe_eval.policies import PolicyAgent
from rulesafe_eval.request import ResultsFolder
from rulesafe_eval.results import evaluate, write_results
from rulesafe_eval.runner import EpisodeRunner, line_out_of_reach
from rulesafe_eval.statistics import clipped
from rulesafe_eval.submission import (
    MAX_FRAMES,
    check,
    decode_actions,
    differences,
    folder_differences,
    obstacle,
    read_submission,
    request_of,
    write_submission,
)
from rulesafe_sim.episodes import OutOfReach
from rulesafe_sim.randomisation import load_split, sample_variation
from vq_memory_node.memory import NoMemory

pytestmark = pytest.mark.episode


@pytest.fixture(scope="module")
def file(request_for, tmp_path_factory):
    """The submission of two episodes of the expert under rule_002."""
    folder = tmp_path_factory.mktemp("submitted") / "run"
    return write_submission(folder, evaluate(request_for(), folder, 1, "local"))


@pytest.fixture
def content(file):
    return copy.deepcopy(read_submission(file))


def verify(file, **environment):
    command = [sys.executable, "-m", "rulesafe_cli.cli", "eval", "verify", str(file)]
    run = subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=600
    )
    return run.returncode, run.stdout, run.stderr


def test_a_submission_is_verified_on_another_processor(file):
    newer = " ".join(name for name in __cpu_dispatch__ if __cpu_features__.get(name))
    code, output, _ = verify(file, NPY_DISABLE_CPU_FEATURES=newer, OPENBLAS_CORETYPE="Nehalem")
    conditions = "no benchmark; 1 rules, 2 safes, split nominal; seeds 0 to 1; 20 s per step"
    conditions = f"privileged agent 'expert'; {conditions}"
    assert (code, output) == (0, f"{conditions}\nverified: 2 of 2 opened\n")
    assert file.stat().st_size < 30_000


def test_a_difference_is_printed_and_the_exit_status_is_1(content, tmp_path):
    content["episodes"][0]["state_digest"] = "0" * 32
    content["request"]["versions"]["numpy"] = "1.0"
    (tmp_path / "changed.json").write_text(json.dumps(content))
    code, output, _ = verify(tmp_path / "changed.json")
    note, _, difference, result = output.splitlines()
    assert code == 1 and result == "not verified: 1 difference"
    assert note.startswith("note: numpy is ") and note.endswith(", and was 1.0")
    assert difference.startswith(
        "rule_002 episode 0 (safe_02, seed 0): state_digest is stated as '00000000000000000000"
    )


def test_a_submission_of_earlier_physics_is_refused_with_the_reason(content, tmp_path):
    assert content["request"]["versions"].pop("physics") == PHYSICS
    (tmp_path / "earlier.json").write_text(json.dumps(content))
    code, _, error = verify(tmp_path / "earlier.json")
    assert code == 2
    assert f"recorded with version 1 of the physics, and this software has version {PHYSICS}" in (
        error
    )
    assert "evaluate the policy again" in error and "state_digest" not in error


def change_actions(content):
    episode = content["episodes"][0]
    actions = np.array(list(decode_actions(episode["actions"])))
    actions[10, 0] += 1e-6
    episode["actions"] = base64.b64encode(zlib.compress(actions.tobytes())).decode()


def claim_success(content):
    episode = content["episodes"][1]
    actions = np.array(list(decode_actions(episode["actions"])))[:40]
    episode["actions"] = base64.b64encode(zlib.compress(actions.tobytes())).decode()
    episode["frames"] = 40


def add_actions(content):
    episode = content["episodes"][0]
    more = bytes(np.array(decode_actions(episode["actions"]))) + bytes(52)
    episode["actions"] = base64.b64encode(zlib.compress(more)).decode()


def place_elsewhere(content):
    content["episodes"][0]["variation"]["placement"]["xyz"][0] -= 0.02


def move_all_seeds(content):
    content["request"]["seed"] = 7
    for episode in content["episodes"]:
        episode["seed"] += 7


def use_another_rule(content):
    content["request"]["rules"] = ["rule_003"]
    for episode in content["episodes"]:
        episode["rule"] = "rule_003"


def skip_a_pose(content):
    other = sample_variation(load_split("nominal").randomisation, "safe_02", 0, 1)
    content["episodes"][0] |= {"resampled": 1, "variation": other.to_dict()}


def omit_the_second(content):
    del content["episodes"][1]


def repeat_the_first(content):
    content["episodes"].append(content["episodes"][0])


def improve_the_summary(content):
    content["summary"][0]["process_score"] = 2.0


def hide_failures(content):
    content["failures"] = {"not_touched": 1}


def add_a_value(content):
    content["episodes"][0]["rank"] = 1


def claim_out_of_reach(content):
    content["episodes"][0]["cause"] = "out_of_reach"


def resample_often(content):
    content["episodes"][0]["resampled"] = 25


@pytest.mark.parametrize(
    ("tamper", "text"),
    [
        (change_actions, "state_digest is stated as"),
        (add_actions, "frames"),
        (claim_success, "opened is stated as True, but was False"),
        (place_elsewhere, "the variation is not that of seed 0"),
        (move_all_seeds, "the variation is not that of seed 7"),
        (use_another_rule, "plan is stated as"),
        (skip_a_pose, "the arm can reach the safe at an earlier pose (draw 0)"),
        (omit_the_second, "rule_002 episode 1: is missing"),
        (repeat_the_first, "an episode is listed twice"),
        (improve_the_summary, "summary: differs from the episodes' values"),
        (hide_failures, "failures: differs from the episodes' values"),
        (add_a_value, "rank is stated as 1, but was None"),
        (claim_out_of_reach, "stated to be out of reach, but the arm can reach it"),
        (resample_often, "resampled must be a number below 20, not 25"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_changed_submission_is_not_verified(content, tamper, text):
    tamper(content)
    assert any(text in found for found in differences(content))


@pytest.mark.parametrize(
    "actions",
    [
        None,
        "no base64!",
        base64.b64encode(b"not compressed").decode(),
        base64.b64encode(zlib.compress(bytes(13))).decode(),
        base64.b64encode(zlib.compress(np.full((2, 13), np.nan, "<f4").tobytes())).decode(),
        base64.b64encode(zlib.compress(bytes(52 * (MAX_FRAMES + 1)))).decode(),
    ],
    ids=["none", "text", "zlib", "shape", "nan", "too many"],
)
def test_invalid_actions_are_refused(actions):
    with pytest.raises(RuleSafeError, match=r"^the actions are not (valid|finite)"):
        decode_actions(actions)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"format": 1}, "is not a submission: its format is not 'rulesafe submission 1'"),
        ({"request": {}}, "is not a valid submission: "),
        ({"episodes": [{}]}, "rule of episode 0 is None"),
        ({"episodes": None}, "is not a valid submission: "),
        ("episodes.0.rule", ["a"]),
        ("episodes.0.number", "x"),
        ("episodes.0.number", True),
        ("episodes.0.opened", "yes"),
        ("episodes.0.process_score", None),
        ("episodes.0.process_score", float("nan")),
        ("episodes.0.process_score", 1e308),
        ("episodes.0.frames", MAX_FRAMES + 1),
        ("request.actor.training", {"seed": "x"}),
        ("request.safes", []),
        ("request.safes", ["safe_02", "safe_02"]),
        ("request.safes", [1]),
        ("request.split", 3),
        ("request.seed", 123456),
        ("request.episodes", 10**9),
        ("request.versions", []),
        ("request.actor", []),
        ("request.files", []),
        ("request.commitment", 1),
        ("request.setup.step_seconds", "a"),
        ("request.setup.step_seconds", float("inf")),
        ("request.setup.step_seconds", 0),
        ("request.setup.step_seconds", 10**400),
        ("request.setup.step_seconds", 1000.5),
        ("request.seed", -(10**400)),
        ("request.rules", ["rule_002", "rule_002"]),
        ("request.versions", {"numpy": "1\nverified: all opened"}),
        ("request.setup.policy", "all opened\nverified: mine"),
        ("request.setup.variant", 1),
    ],
    ids=str,
)
def test_an_invalid_submission_is_refused(content, change, text, tmp_path):
    if isinstance(change, str):  # the path of a value, and another value
        *path, last = (int(key) if key.isdigit() else key for key in change.split("."))
        reduce(getitem, path, content)[last] = text
        change, text = {}, "is not a valid submission: "
    (tmp_path / "submission.json").write_text(json.dumps(content | change))
    with pytest.raises(RuleSafeError) as error:
        read_submission(tmp_path)
    assert text in str(error.value)


@pytest.mark.parametrize("change", [{"split": "/tmp/easy.yaml"}, {"safes": ["/tmp/safe.yaml"]}])
def test_custom_files_are_refused_even_if_they_are_not_listed(content, change, tmp_path):
    content["request"] |= change
    (tmp_path / "submission.json").write_text(json.dumps(content))
    with pytest.raises(RuleSafeError, match=r"cannot be verified: .* not part of RuleSafe: /tmp/"):
        read_submission(tmp_path)


EDITS = {
    "results.json": lambda content: content["summary"][0].update(process_score=0.5),
    "results.jsonl": lambda lines: lines[0].update(opened=False),
    "eval.json": lambda request: request["setup"].update(execute=11),
    "submission.json": lambda content: content["episodes"][1].update(reason="none"),
    "actions/rule_002/000001.npy": lambda actions: actions.__setitem__((3, 4), 0.0),
    "actions/rule_002/000000.npy": None,
}


@pytest.mark.parametrize("name", EDITS)
def test_all_files_of_a_folder_are_compared(file, name, tmp_path):
    folder = shutil.copytree(file.parent, tmp_path / "copy")
    assert folder_differences(folder, read_submission(folder)) == []
    path, edit = folder / name, EDITS[name]
    if path.suffix == ".npy" and edit is None:
        path.unlink()
        with pytest.raises(RuleSafeError, match="has no actions of an episode"):
            folder_differences(folder, read_submission(folder))
        return
    if path.suffix == ".npy":
        edit(actions := np.load(path))
        np.save(path, actions)
    elif path.suffix == ".jsonl":
        edit(lines := list(map(json.loads, path.read_text().splitlines())))
        path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    else:
        edit(content := json.loads(path.read_text()))
        path.write_text(json.dumps(content))
    found = folder_differences(folder, read_submission(folder))
    assert found and all("differs from results.json" in text for text in found)
    code, output, _ = verify(folder) if name == "results.json" else (1, *[found[0]] * 2)
    assert code == 1 and found[0] in output


def test_a_published_submission_has_no_other_files(file, tmp_path):
    shutil.copy(file, tmp_path)
    assert folder_differences(tmp_path, read_submission(tmp_path)) == []


def test_an_agent_that_is_privileged_by_its_name_cannot_hide_it(content):
    request = content["request"]
    request["actor"] = {"kind": "checkpoint", "privileged": False}
    assert is_privileged(request)
    request["setup"]["policy"] = "mine"
    assert not is_privileged(request)
    request["actor"]["kind"] = "phase-oracle"
    assert is_privileged(request)


def test_values_of_an_episode_out_of_reach_are_those_of_no_episode(content, monkeypatch):
    def fail(*_):
        raise OutOfReach("too far")

    monkeypatch.setattr(submission, "place", fail)
    attempt = request_of(content).episode("rule_002", 0)
    content["episodes"][0] = line_out_of_reach(attempt, "too far")
    stated = {("rule_002", 0): json.loads(json.dumps(content["episodes"][0]))}
    assert check(EpisodeRunner(request_of(content).setup), stated, attempt) == []
    stated["rule_002", 0]["opened"] = True
    (found,) = check(EpisodeRunner(request_of(content).setup), stated, attempt)
    assert "opened is stated as True, but was False" in found


class BeyondLimits:
    """A policy with short chunks, all of whose targets are clipped."""

    needs = Needs()

    def reset(self):
        pass

    def infer(self, observation):
        return np.repeat(observation.joints[-1:], 16, axis=0) + np.float32(9.0)


def test_a_submission_of_a_policy_with_clipped_targets_is_verified(request_for, tmp_path):
    request = request_for("policy", episodes=1, step_seconds=1.0)
    agent = PolicyAgent(BeyondLimits(), NoMemory(), 12)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner, "agent_of", lambda of: agent)
        line = EpisodeRunner(request.setup).run(tmp_path, request.episode("rule_002", 0))
    assert line["targets"] == 16 * line["inferences"] > line["frames"]
    assert "(100 %) were out of the joints' limits" in clipped([line])
    (tmp_path / "eval.json").write_text(json.dumps(asdict(request)))
    ResultsFolder(tmp_path).add(line)
    assert differences(read_submission(write_submission(tmp_path, write_results(tmp_path)))) == []


def test_what_cannot_be_verified_is_not_submitted(content, tmp_path):
    request = content["request"]
    assert not obstacle(request)
    disturbed = request | {"setup": request["setup"] | {"disturbances": "interference"}}
    assert "a study disturbs its episodes: interference" in obstacle(disturbed)
    assert "not part of RuleSafe: my_safe.yaml" in obstacle(
        request | {"files": {"my_safe.yaml": ""}}
    )
    with pytest.raises(RuleSafeError, match="is not complete"):
        write_submission(tmp_path, {"complete": False})
    with pytest.raises(RuleSafeError, match="does not exist; rulesafe eval writes it"):
        read_submission(tmp_path)
