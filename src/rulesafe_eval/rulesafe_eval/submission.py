"""Submissions: results of an evaluation that anyone can check without the policy.

A submission is the content of results.json without `timing`. Each episode also has its `variation`
and `actions`: the executed actions (N, 13), rad, as little-endian float32, compressed by zlib, in
base64. `differences` executes them again and compares every episode with what the submission
states. Since the physics is bit-identical on all x86-64 processors, so are the state digests, until
the version of the physics changes (`rulesafe_core.versions`).

Read the actions of an episode:

    np.frombuffer(zlib.decompress(base64.b64decode(episode["actions"])), "<f4").reshape(-1, 13)
"""

import base64
import json
import math
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planner_node.reach import out_of_reach
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS
from rulesafe_core.text_files import MAX_JSON_BYTES, read_json
from rulesafe_core.versions import check_physics
from rulesafe_data.engines import run
from rulesafe_data.files import write_json
from rulesafe_data.run_folder import Line
from rulesafe_eval.request import EvaluationRequest, disturbances_of, title_of
from rulesafe_eval.runner import EpisodeRunner, actions_file, line_out_of_reach
from rulesafe_eval.statistics import failures, summary
from rulesafe_locks.lock_sets import rule_sets
from rulesafe_locks.rules import load_rule
from rulesafe_sim.episodes import (
    DRAWS,
    Episode,
    OutOfReach,
    check_seeds,
    check_step_seconds,
    place,
)
from rulesafe_sim.randomisation import SPLITS
from rulesafe_sim.runtime import Playback
from rulesafe_sim.safes import SAFES, load_safe
from rulesafe_sim.variation import Variation

FORMAT = "rulesafe submission 1"

FILE = "submission.json"

MAX_EPISODES = 100_000
"""Maximum number of episodes of a request, which limits the time that a file can claim."""

MAX_FRAMES = 100_000
"""Maximum number of actions of an episode, which limits the memory that a file can claim."""

OF_THE_POLICY = {"inferences", "retries", "reason", "targets", "clipped_actions"}
OF_THE_POLICY |= {"actions", "variation"}
HEAD = {"split", "lock", "time_limit"}
"""OF_THE_POLICY: values of an episode that do not follow from its actions. Targets, and those that
were clipped, include steps of chunks that were not executed. HEAD: values that follow from the
request, and that submissions of earlier versions do not state."""

TYPES: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("rule", "safe", "cause", "failed_event"), str),
    **dict.fromkeys(("number", "seed", "failed_step", "frames", "clipped_actions"), int),
    **dict.fromkeys(("process_score", "order_free_score"), (int, float)),
    "opened": bool,
}
"""Types of the values from which statistics are computed."""

STATISTICS: dict[str, Callable[[Any], Any]] = {
    "summary": summary,
    "failures": failures,
}


def obstacle(request: Mapping[str, Any]) -> str:
    """Return why the results of a request cannot be submitted; empty if they can."""
    rules = {rule for ids in rule_sets().values() for rule in ids}
    custom = {request["split"]} - SPLITS.keys() | {*request["safes"]} - {*SAFES}
    if not request.get("commitment"):  # the study of sealed evaluations compares their locks
        custom |= {*request["files"], *request["locks"].values()} | {*request["rules"]} - rules
    if custom:
        return f"it uses files that are not part of RuleSafe: {', '.join(sorted(custom))}"
    if disturbed := disturbances_of(request["setup"]):
        return f"a study disturbs its episodes: {disturbed}"
    return ""


def unknown_actions(directory: Path, content: Mapping[str, Any]) -> str:
    """Return which episodes have no actions, so that there is no submission; empty if all do."""
    lines = [line for line in content["episodes"] if line["cause"] != "out_of_reach"]
    files = [actions_file(directory, line["rule"], line["number"]) for line in lines]
    count = sum(not file.is_file() for file in files)
    return f"the actions of {count} episodes are not known" if count else ""


def write_submission(directory: Path, content: Mapping[str, Any]) -> Path:
    """Write DIR/submission.json of a complete evaluation.

    Raises:
        RuleSafeError: the evaluation is not complete or cannot be submitted, or an action file is
            missing.
    """
    if not content["complete"]:
        raise RuleSafeError(f"{directory} is not complete: resume it with the same command")
    if reason := obstacle(content["request"]):
        raise RuleSafeError(f"{directory} cannot be submitted: {reason}")
    request = json.loads(json.dumps(content["request"]))
    request["setup"]["policy"] = title_of(request["setup"]["policy"])
    request["locks"] = {}  # paths of this machine
    episodes = []
    for line in content["episodes"]:
        more: dict[str, Any] = {}
        if line["cause"] != "out_of_reach":
            file = actions_file(directory, line["rule"], line["number"])
            more = {"actions": encode_actions(_load(file))}
        episodes.append({**line, **more, "lock": ""})
    names = ("complete", *STATISTICS)
    stated = {name: content[name] for name in names}
    submission = {"format": FORMAT, "request": request, **stated, "episodes": episodes}
    size = sum(len(line.get("actions", "")) for line in episodes)
    if size > MAX_JSON_BYTES * 0.9:
        raise RuleSafeError(
            f"{directory} cannot be submitted: its actions have {size} bytes, and a submission at "
            f"most {MAX_JSON_BYTES}"
        )
    write_json(directory / FILE, submission)
    return directory / FILE


def read_submission(path: Path) -> dict[str, Any]:
    """Return the content of a submission, given the file or its directory. Raises RuleSafeError."""
    file = path / FILE if path.is_dir() else path
    try:
        content: dict[str, Any] = read_json(file, "a submission")
    except FileNotFoundError:
        raise RuleSafeError(
            f"{file} does not exist; rulesafe eval writes it when all episodes are finished"
        ) from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise RuleSafeError(f"{file} is not a submission: its format is not {FORMAT!r}")
    try:
        _check_request(request_of(content))
        for number, episode in enumerate(content["episodes"]):
            for name, kind in TYPES.items():
                value = episode.get(name)
                if not isinstance(value, kind) or (type(value) is bool) != (kind is bool):
                    raise ValueError(f"{name} of episode {number} is {value!r}")
        reason = obstacle(content["request"])
    except (
        ArithmeticError,
        AttributeError,
        KeyError,
        RuleSafeError,
        TypeError,
        ValueError,
    ) as error:
        raise RuleSafeError(f"{file} is not a valid submission: {error}") from error
    if reason:
        raise RuleSafeError(f"{file} cannot be verified: {reason}")
    content["request"]["locks"] = {}  # paths in the file are not read
    return content


def _check_request(request: EvaluationRequest) -> None:
    """Raise ValueError or RuleSafeError unless the request is one of `rulesafe eval`."""
    setup = request.setup
    counts = (request.episodes, request.seed, setup.execute)
    texts = (
        *(request.split, setup.policy, setup.execution, request.commitment),
        *(setup.variant, setup.disturbances),
    )
    if not (
        all(type(value) is int and value >= 0 for value in counts)
        and all(isinstance(text, str) for text in (*texts, *request.safes, *request.rules))
        and isinstance(request.versions, dict)
        and isinstance(request.actor, dict)
        and isinstance(request.files, dict)
        and request.rules
        and request.safes
        and len(set(request.rules)) == len(request.rules)
        and len(request.rules) * request.episodes <= MAX_EPISODES
        and all(isinstance(version, str) for version in request.versions.values())
        and all(text.isprintable() for text in (*texts, *request.versions.values()))
    ):
        raise ValueError("the request has values that rulesafe eval does not write")
    if type(setup.step_seconds) not in (int, float) or setup.step_seconds == math.inf:
        raise ValueError(f"step_seconds is {setup.step_seconds!r}")
    # The seed of a sealed evaluation is larger; the study compares it with the key.
    check_seeds(0 if request.commitment else request.seed, request.episodes)
    check_step_seconds(setup.step_seconds)


def request_of(content: Mapping[str, Any]) -> EvaluationRequest:
    """Return the request of a submission."""
    return EvaluationRequest.from_dict(content["request"])


def differences(
    content: Mapping[str, Any],
    workers: int = 1,
    on_episode: Callable[[], object] = lambda: None,
) -> list[str]:
    """Execute a submission's actions again; return all differences as text, none if it is verified.

    Args:
        content: as returned by `read_submission`.
        workers: number of parallel processes.
        on_episode: called after each episode.

    Raises:
        RuleSafeError: the submission was recorded with another version of the physics.
    """
    request = request_of(content)
    check_physics(request.versions, "the submission", "evaluate the policy again")
    stated = {(line["rule"], line["number"]): line for line in content["episodes"]}
    expected = {(each.rule, each.number): each for each in request}
    found = dict.fromkeys(expected.keys() - stated.keys(), "is missing")
    found |= dict.fromkeys(stated.keys() - expected.keys(), "is not part of the request")
    texts = [f"{rule} episode {number}: {text}" for (rule, number), text in sorted(found.items())]
    if len(stated) < len(content["episodes"]):
        texts.append("an episode is listed twice")

    def note(_: Episode, different: list[str]) -> None:
        texts.extend(different)
        on_episode()

    jobs = [expected[key] for key in expected if key in stated]
    run(partial(check, EpisodeRunner(request.setup), stated), jobs, note, workers)
    for name, compute in () if texts else STATISTICS.items():  # of the verified values
        if _plain(compute(content["episodes"])) != content.get(name):
            texts.append(f"{name}: differs from the episodes' values")
    return texts


def check(
    runner: EpisodeRunner, stated: Mapping[tuple[str, int], Line], episode: Episode
) -> list[str]:
    """Return the differences between an episode of a submission and its execution, as text."""
    line = stated[episode.key]
    try:
        found = _again(runner, line, episode)
    except RuleSafeError as error:
        return [f"{episode}: {error}"]
    names = (found.keys() | line.keys()) - OF_THE_POLICY - (HEAD - line.keys()) - {"lock"}
    return [
        f"{episode}: {name} is stated as {line.get(name)!r}, but was {found.get(name)!r}"
        for name in sorted(names)
        if found.get(name) != line.get(name)
    ]


def _again(runner: EpisodeRunner, line: Line, episode: Episode) -> dict[str, Any]:
    """Return the line of an episode after executing its actions again. Raises RuleSafeError if its
    variation is not that of its seed, or its values are invalid."""
    if line["cause"] == "out_of_reach":
        try:
            place(episode, out_of_reach)
        except OutOfReach as error:
            expected: dict[str, Any] = _plain(line_out_of_reach(episode, str(error)))
            return expected
        raise RuleSafeError("the safe is stated to be out of reach, but the arm can reach it")
    resampled = line.get("resampled")
    if type(resampled) is not int or not 0 <= resampled < DRAWS:
        raise RuleSafeError(f"resampled must be a number below {DRAWS}, not {resampled!r}")
    variation = Variation.from_dict(line.get("variation"))
    if variation != episode.sample(resampled):
        raise RuleSafeError(f"the variation is not that of seed {episode.seed}")
    for draw in range(resampled):
        rule, safe = load_rule(episode.source), load_safe(episode.safe)
        if not out_of_reach(safe, rule, episode.sample(draw)):
            raise RuleSafeError(f"the arm can reach the safe at an earlier pose (draw {draw})")
    fixed = replace(episode, variation=variation, resampled=resampled)
    found, _, _ = runner.execute(Playback(decode_actions(line.get("actions"))), fixed)
    plain: dict[str, Any] = _plain(found)
    return plain


def _plain(value: Any) -> Any:
    """Return a value as it is read from JSON."""
    return json.loads(json.dumps(value))


def _load(file: Path) -> NDArray[np.float32]:
    try:
        return np.load(file, allow_pickle=False).astype("<f4").reshape(-1, len(ACTION_JOINTS))
    except (OSError, ValueError) as error:
        raise RuleSafeError(f"{file} has no actions of an episode: {error}") from error


def encode_actions(actions: NDArray[np.float32]) -> str:
    return base64.b64encode(zlib.compress(actions.tobytes(), 9)).decode()


def decode_actions(text: object) -> Iterator[NDArray[np.float32]]:
    """Return the actions, each (13,), rad."""
    size = 4 * len(ACTION_JOINTS)
    try:
        packed = zlib.decompressobj()
        content = packed.decompress(base64.b64decode(str(text), validate=True), MAX_FRAMES * size)
        if not packed.eof or packed.unused_data:
            raise ValueError(f"not complete, or more than {MAX_FRAMES} frames")
        actions = np.frombuffer(content, "<f4").reshape(-1, len(ACTION_JOINTS))
    except (ValueError, zlib.error) as error:
        raise RuleSafeError(f"the actions are not valid: {error}") from error
    if not np.isfinite(actions).all():
        raise RuleSafeError("the actions are not finite")
    return iter(actions)
