"""`rulesafe eval compare`: paired comparison of two evaluations on the same episodes."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.errors import RuleSafeError
from rulesafe_eval.request import EXECUTE, EXECUTION, disturbances_of, variant_of
from rulesafe_eval.statistics import (
    FEWEST,
    SCORES,
    bootstrap,
    cluster_sums,
    groups,
    mcnemar,
    newcombe,
    sign_flips,
)

Line = Mapping[str, Any]
Pair = tuple[Line, Line]


def compare(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Compare two results.json: {"policies", "pairs", "unpaired", "rows"}.

    Pairs are episodes with the same rule, safe, seed and split. There is a row for each rule and
    one for all rules. A row has the number of pairs and of their places (safe and
    seed), the successes of both policies, and
    - the difference of the success rates, second minus first, with its paired bootstrap interval,
      or that of Newcombe if the bootstrap has no width because all places have the same difference;
    - the numbers of pairs in which only one policy succeeded, with the p of McNemar's exact test;
    - the differences of the scores, with intervals and the p of sign-flip tests.

    p values are two-sided and not corrected for the number of rows. Episodes of different rules
    with the same seed have the same safe pose and are therefore not independent. The row for all
    rules uses a cluster bootstrap and a cluster sign-flip test (clusters: seeds) instead of
    McNemar's test.

    Raises:
        RuleSafeError: if the evaluations share no episode, or their conditions differ.
    """
    _check(one["request"], other["request"])
    theirs = {_key(line): line for line in other["episodes"]}
    pairs = [(line, theirs[_key(line)]) for line in one["episodes"] if _key(line) in theirs]
    if not pairs:
        raise RuleSafeError(
            "no episode has the same rule, safe and seed in both: "
            + " and ".join(_about(content) for content in (one, other))
        )
    by_rule: dict[str, list[Pair]] = {}
    for rule in groups([pair[0] for pair in pairs], "rule"):
        by_rule[rule] = [pair for pair in pairs if pair[0]["rule"] == rule]
    rows = [row_of("all", pairs)] if len(by_rule) > 1 else []
    return {
        "policies": [_name(one["request"]), _name(other["request"])],
        "pairs": len(pairs),
        "unpaired": [len(c["episodes"]) - len(pairs) for c in (one, other)],
        "rows": [*rows, *(row_of(rule, of) for rule, of in by_rule.items())],
    }


def row_of(rule: str, pairs: Sequence[Pair]) -> dict[str, Any]:
    """Return the statistics of some pairs."""
    opened = np.array([[line["opened"] for line in pair] for pair in pairs])  # (P, 2)
    only = [int((opened[:, i] & ~opened[:, 1 - i]).sum()) for i in (0, 1)]
    gain = opened[:, 1].astype(float) - opened[:, 0]
    places = [(line["safe"], line["seed"]) for line, _ in pairs]
    independent = len(set(places)) == len(places)
    row: dict[str, Any] = {
        "rule": rule,
        "pairs": len(pairs),
        "places": len(set(places)),
        "opened": opened.sum(0).tolist(),
        "success_difference": float(gain.mean()),
        "success_interval": _success_interval(opened, places),
        "only_first": only[0],
        "only_second": only[1],
        "success_p": mcnemar(*only) if independent else sign_flips(cluster_sums(gain, places)[0]),
    }
    for score in SCORES:
        gain = np.array([second[score] - first[score] for first, second in pairs])
        row[f"{score}_difference"] = float(gain.mean())
        row[f"{score}_interval"] = list(bootstrap(gain, places))
        row[f"{score}_p"] = sign_flips(cluster_sums(gain, places)[0])
    return row


def _success_interval(opened: NDArray[np.bool_], places: Sequence[Hashable]) -> list[float]:
    """Return the interval of the difference of success rates; `opened`: (P, 2)."""
    low, high = bootstrap(opened[:, 1].astype(float) - opened[:, 0], places)
    if low < high:
        return [low, high]
    first, second = opened.T
    cells = (first & second, first & ~second, ~first & second, ~first & ~second)
    share = len(set(places)) / len(places)  # further pairs at a place are no further evidence
    return list(newcombe(*(round(cell.sum() * share) for cell in cells)))


def as_text(row: Mapping[str, Any]) -> tuple[str, str, str, str]:
    """Return the differences of a row with their intervals and p, as text: success, p, process
    score, p. With fewer than FEWEST places, success is a count, and there are no intervals; a
    score has none if all its differences are equal."""
    if row["places"] < FEWEST:
        return (
            f"{row['only_second'] - row['only_first']:+d} of {row['pairs']}",
            f"{row['success_p']:.2g}",
            f"{row['process_score_difference']:+.2f}",
            f"{row['process_score_p']:.2g}",
        )
    low, high = row["success_interval"]
    bottom, top = row["process_score_interval"]
    return (
        f"{100 * row['success_difference']:+.0f} ({100 * low:+.0f}..{100 * high:+.0f})",
        f"{row['success_p']:.2g}",
        f"{row['process_score_difference']:+.2f}"
        + (f" ({bottom:+.2f}..{top:+.2f})" if bottom < top else ""),
        f"{row['process_score_p']:.2g}",
    )


def _key(line: Line) -> tuple[str, str, int]:
    return line["rule"], line["safe"], line["seed"]


def _check(one: Mapping[str, Any], other: Mapping[str, Any]) -> None:
    """Raise RuleSafeError if the same seed does not mean the same episode in both evaluations."""
    conditions = {
        "split": lambda request: request["split"],
        "files": lambda request: request["files"],
        "time per step": lambda request: request["setup"]["step_seconds"],
        "disturbances": lambda request: disturbances_of(request["setup"]) or "none",
    }
    for name, condition in conditions.items():
        if condition(one) != condition(other):
            raise RuleSafeError(
                f"the evaluations have different episodes: {name} {condition(one)} in the first, "
                f"{condition(other)} in the second"
            )


def _name(request: Mapping[str, Any]) -> str:
    """Return the policy's name and all settings that differ from the defaults."""
    name: str = request["setup"]["policy"]
    changed = changed_settings(request["setup"])
    return f"{name} ({', '.join(changed)})" if changed else name


def changed_settings(setup: Mapping[str, Any]) -> list[str]:
    """Return a text for each setting that differs from its default."""
    variant = variant_of(setup)
    settings = {
        variant: bool(variant),
        f"{setup['execute']} actions per chunk": setup["execute"] != EXECUTE,
        setup["execution"]: setup["execution"] != EXECUTION,
    }
    return [words for words, is_set in settings.items() if is_set]


def _about(content: Mapping[str, Any]) -> str:
    request = content["request"]
    return (
        f"{_name(request)} with {','.join(request['rules'])} on {','.join(request['safes'])}, "
        f"seeds {request['seed']}..{request['seed'] + request['episodes'] - 1}"
    )
