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
import zlib
from collections.abc import Callable, Iterable, Mapping
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
from rulesafe_eval.request import EvaluationRequest, ResultsFolder, disturbances_of, title_of
from rulesafe_eval.results import RESULTS, read_results, results_of
from rulesafe_eval.runner import EpisodeRunner, actions_file, line_out_of_reach
from rulesafe_eval.statistics import failures, summary
from rulesafe_eval.validation import MAX_FRAMES, checked
from rulesafe_locks.lock_sets import rule_sets
from rulesafe_locks.rules import load_rule
from rulesafe_sim.episodes import (
    DRAWS,
    Episode,
    OutOfReach,
    place,
)
from rulesafe_sim.randomisation import SPLITS
from rulesafe_sim.runtime import Playback
from rulesafe_sim.safes import SAFES, load_safe
from rulesafe_sim.variation import Variation

FORMAT = "rulesafe submission 1"

FILE = "submission.json"

OF_THE_POLICY = {"inferences", "retries", "reason", "targets", "clipped_actions"}
OF_THE_POLICY |= {"actions", "variation"}
HEAD = {"split", "lock", "time_limit"}
"""OF_THE_POLICY: values of an episode that do not follow from its actions. Targets, and those that
were clipped, include steps of chunks that were not executed. HEAD: values that follow from the
request, and that submissions of earlier versions do not state."""

STATISTICS: dict[str, Callable[[Any], Any]] = {
    "summary": summary,
    "failures": failures,
}


def obstacle(request: Mapping[str, Any]) -> str:
    """Return why the results of a request cannot be submitted; empty if they can."""
    rules = {rule for ids in rule_sets().values() for rule in ids}
    custom = {*request["safes"]} - {*SAFES}
    custom |= {request["split"]} - SPLITS.keys()
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


def make_submission(directory: Path, content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the submission of an evaluation, given the content of its results.json.

    Raises:
        RuleSafeError: an action file is missing.
    """
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
    stated = {name: content.get(name) for name in names}
    return {"format": FORMAT, "request": request, **stated, "episodes": episodes}


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
    submission = make_submission(directory, content)
    size = sum(len(line.get("actions", "")) for line in submission["episodes"])
    if size > MAX_JSON_BYTES * 0.9:
        raise RuleSafeError(
            f"{directory} cannot be submitted: its actions have {size} bytes, and a submission at "
            f"most {MAX_JSON_BYTES}"
        )
    write_json(directory / FILE, submission)
    return directory / FILE


def folder_differences(directory: Path, content: Mapping[str, Any]) -> list[str]:
    """Return how the submission of a directory differs from its results and actions, as text.

    Args:
        directory: directory of an evaluation; files that it does not have are not compared.
        content: as returned by `read_submission`.

    Raises:
        RuleSafeError: a file of the directory is not valid.
    """
    texts = []
    if not (directory / RESULTS).exists():
        return []
    results = read_results(directory)
    if ResultsFolder(directory).exists():
        texts += _different("results.json", results, results_of(directory), "results.jsonl")
    made = make_submission(directory, results)
    return texts + _different(FILE, content, made, "results.json and actions")


def _different(
    name: str, found: Mapping[str, Any], expected: Mapping[str, Any], source: str
) -> list[str]:
    """Return which values of a file differ from those of the files that it was made from."""
    found, expected = ({**of, **_by_key(of.get("episodes", ()))} for of in (found, expected))
    return [
        f"{name}: {key} differs from {source}"
        for key in sorted((found.keys() | expected.keys()) - {"episodes"})
        if _text(found.get(key)) != _text(expected.get(key))
    ]


def _by_key(episodes: Iterable[Line]) -> dict[str, Line]:
    return {f"{line['rule']} episode {line['number']}": line for line in episodes}


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def read_submission(path: Path) -> dict[str, Any]:
    """Return the content of a submission, given the file or its directory. Raises RuleSafeError."""
    file = path / FILE if path.is_dir() else path
    try:
        content: dict[str, Any] = read_json(file, "a submission")
    except FileNotFoundError:
        raise RuleSafeError(
            f"{file} does not exist; rulesafe eval writes it when all episodes are finished"
        ) from None
    if content.get("format") != FORMAT:
        raise RuleSafeError(f"{file} is not a submission: its format is not {FORMAT!r}")
    content = checked(content, file, "a valid submission")
    if reason := obstacle(content["request"]):
        raise RuleSafeError(f"{file} cannot be verified: {reason}")
    content["request"]["locks"] = {}  # paths in the file are not read
    return content


def read_evaluation(path: Path) -> dict[str, Any]:
    """Return the content of results.json or of a submission, given the file or its directory, in
    which results.json is preferred. Raises RuleSafeError."""
    submitted = path.is_dir() and not (path / RESULTS).exists() and (path / FILE).exists()
    if submitted or (path.is_file() and read_json(path, "results").get("format") == FORMAT):
        return read_submission(path)
    return read_results(path)


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
    actions = decode_actions(line.get("actions"))
    if len(actions) != line["frames"]:
        raise RuleSafeError(f"it has {len(actions)} actions, but {line['frames']} frames")
    found, _, _ = runner.execute(Playback(actions), fixed)
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


def decode_actions(text: object) -> NDArray[np.float32]:
    """Return the actions (N, 13), rad."""
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
    return actions
