"""`rulesafe eval table`: many evaluations on one page, pooled over the training seeds."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from typing import Any, NamedTuple

import numpy as np

from rulesafe_core.errors import RuleSafeError
from rulesafe_data.intervals import wilson
from rulesafe_data.markdown import escaped
from rulesafe_eval.comparison import as_text, changed_settings, row_of
from rulesafe_eval.request import disturbances_of
from rulesafe_eval.statistics import (
    FEW_PAIRS,
    FEWEST,
    SCORES,
    bootstrap,
    mean,
    percent,
)

Line = Mapping[str, Any]

MOST_BARS = 4

MAX_NAMES = 3
"""Maximum number of safes or rules that a heading lists."""


class Condition(NamedTuple):
    """Policies are compared if their conditions are equal; several `rules` are pooled."""

    rules: tuple[str, ...]
    safes: str
    split: str
    step_seconds: float

    @property
    def names(self) -> str:
        """The rules, or how many they are, as text."""
        return ", ".join(self.rules) if len(self.rules) <= MAX_NAMES else f"{len(self.rules)} rules"

    @property
    def where(self) -> str:
        """Safes, or how many they are, and split as text."""
        safes = self.safes.split(", ")
        named = self.safes if len(safes) <= MAX_NAMES else f"{len(safes)} safes"
        return f"{named}, split {self.split}"


@dataclass
class Pooled:
    """Episodes of one policy in one condition, pooled over its training seeds.

    Attributes:
        lines: (training seed, rule, safe, seed) -> the episode.
        seconds: training seed -> duration of its training, s; None if it is unknown.
    """

    lines: dict[tuple[int, str, str, int], Line] = field(default_factory=dict)
    seconds: dict[int, float | None] = field(default_factory=dict)

    def values(self, key: str) -> np.ndarray:
        """Return the value of a key for each episode (N,)."""
        return np.array([float(line[key]) for line in self.lines.values()])

    def opened(self, seed: int) -> tuple[int, int]:
        """Return the number of successes and of episodes of a training seed."""
        found = [line["opened"] for key, line in self.lines.items() if key[0] == seed]
        return sum(found), len(found)

    @property
    def places(self) -> set[tuple[str, str, int]]:
        """Rule, safe and seed of all episodes, over all training seeds."""
        return {key[1:] for key in self.lines}

    @property
    def poses(self) -> str:
        """The seeds of the episodes as text, such as "0..9, 12"."""
        seeds = sorted({key[3] for key in self.lines})
        gaps = [i for i in range(1, len(seeds)) if seeds[i] > seeds[i - 1] + 1]
        runs = [seeds[i:j] for i, j in pairwise([0, *gaps, len(seeds)])]
        return ", ".join(f"{run[0]}..{run[-1]}" if len(run) > 1 else f"{run[0]}" for run in runs)

    def shared(self, other: "Pooled") -> list[tuple[int, str, str, int]]:
        """Return the keys of the episodes that are also in `other`."""
        return [key for key in self.lines if key in other.lines]

    def interval(self, key: str) -> tuple[float, float] | None:
        """Return the 95 % interval of the mean of a value. All episodes of a place are resampled
        together, also those of several rules. None: there are too few places for a bootstrap."""
        places = [key[2:] for key in self.lines]
        values, count = self.values(key), len(set(places))
        if key == "opened" and (len(values) == count or np.ptp(values) == 0):
            return wilson(round(values.mean() * count), count)
        return bootstrap(values, places) if len(set(places)) >= FEWEST else None


def pool(contents: Sequence[Mapping[str, Any]]) -> dict[Condition, dict[str, Pooled]]:
    """Return the episodes of some results.json, by condition and policy: the "label" of a content
    if it has one, else `policy_label`. Several rules of a policy with otherwise equal conditions
    are also pooled, together with the episodes under these rules of each policy that has all of
    them. Policies that are no checkpoints state no training seed: if their class or its files
    differ, equal labels make them trainings of one policy, which are numbered in their order, and
    without labels they are different policies.

    Raises:
        RuleSafeError: if two results have the same episode of a policy and training seed.
    """
    found: dict[Condition, dict[str, Pooled]] = defaultdict(dict)
    versions: dict[str, list[str]] = defaultdict(list)
    for content in contents:
        request = content["request"]
        training = request["actor"].get("training") or {}
        kind = content.get("label") or policy_label(request)
        seed = training.get("seed") or 0
        if request["actor"].get("kind") != "checkpoint":
            version = json.dumps([request["setup"]["policy"], request["actor"].get("files")])
            if version not in versions[kind]:
                versions[kind].append(version)
            number = versions[kind].index(version)
            if content.get("label"):
                seed = number
            elif number:
                kind = f"{kind} (version {number + 1})"
        for line in content["episodes"]:
            setup = request["setup"]
            safes = ", ".join(request["safes"])
            split = ", ".join(filter(None, (request["split"], disturbances_of(setup))))
            condition = Condition((line["rule"],), safes, split, setup["step_seconds"])
            pooled = found[condition].setdefault(kind, Pooled())
            key = (seed, line["rule"], line["safe"], line["seed"])
            if key in pooled.lines:
                raise RuleSafeError(
                    f"two evaluations of {kind}, training seed {seed}, have {line['rule']} on "
                    f"{line['safe']} with seed {line['seed']}; give only one of them"
                )
            pooled.lines[key] = line
            pooled.seconds[seed] = training.get("seconds")
    every = _several_rules(found) | found
    return dict(sorted(every.items(), key=lambda item: (-len(item[0].rules), item[0])))


def also_pooled(pooled: Mapping[Condition, Mapping[str, Pooled]]) -> set[Condition]:
    """Return the conditions with one rule whose policies all have a condition with several."""
    together = {(c[1:], kind) for c, kinds in pooled.items() if len(c.rules) > 1 for kind in kinds}
    return {
        condition
        for condition, kinds in pooled.items()
        if len(condition.rules) == 1 and all((condition[1:], kind) in together for kind in kinds)
    }


def _several_rules(
    found: Mapping[Condition, Mapping[str, Pooled]],
) -> dict[Condition, dict[str, Pooled]]:
    pooled: dict[Condition, dict[str, Pooled]] = defaultdict(dict)
    for where in {condition[1:] for condition in found}:
        parts = {c.rules[0]: kinds for c, kinds in found.items() if c[1:] == where}
        rules_of: dict[str, list[str]] = defaultdict(list)
        for rule in sorted(parts):
            for kind in parts[rule]:
                rules_of[kind].append(rule)
        for rules in {tuple(rules) for rules in rules_of.values() if len(rules) > 1}:
            for kind in (kind for kind, has in rules_of.items() if set(rules) <= set(has)):
                of_all = pooled[Condition(rules, *where)].setdefault(kind, Pooled())
                for rule in rules:
                    of_all.lines |= parts[rule][kind].lines
                    of_all.seconds |= parts[rule][kind].seconds
    return pooled


def policy_label(request: Mapping[str, Any]) -> str:
    """Return the name of a policy in the table: all its facts except the training seed."""
    actor, setup = request["actor"], request["setup"]
    privileged = bool(actor.get("privileged"))
    if actor.get("kind") != "checkpoint":  # the names of expert and oracles say it themselves
        marked = privileged and actor.get("kind") in ("class", "remote")
        return f"{setup['policy']} (privileged)" if marked else str(setup["policy"])
    memory, training = actor["memory"], actor.get("training") or {}
    words = {
        f"J = {memory.get('clusters')} of {memory.get('model')}": "clusters" in memory,
        f"M = {memory.get('length')}": "length" in memory,
        "privileged": privileged,
        f"{training.get('steps')} steps": "steps" in training,
        f"encoder {training.get('encoder')}": "encoder" in training,
    }
    known = [word for word, is_known in words.items() if is_known]
    details = ", ".join(known + changed_settings(setup))
    name = f"{actor['family']} {actor['size']}, {memory['kind']}"
    return f"{name} ({details})" if details else name


ABOUT = f"""\
95 % intervals: Wilson; with several training seeds or rules bootstrap over places (safe and seed),
where all episodes at a place are drawn together. Pairs are episodes of the same rule, place and
training seed; rows with other seeds have other poses: compare them by their differences, not by
their success. A rule that only some of the policies have is part of the sections of several rules
only. p is two-sided and not corrected for the number of rows: McNemar's exact test if each
place has one pair, otherwise a sign-flip test on the differences of the places. The interval of a
difference of success is a bootstrap over places, or Newcombe's (1998, method 10) if the difference
is the same at all places; a score whose difference is the same at all places has none. {FEW_PAIRS}
"""


def page(contents: Sequence[Mapping[str, Any]], command: str, figure: str = "") -> str:
    """Return a Markdown page: success, differences and failures of each policy, by condition.

    Args:
        contents: contents of results.json files.
        command: the command that made the page.
        figure: path of a figure of `bars`, relative to the page; empty: none.
    """
    drawn = [f"![Success and scores with 95 % intervals]({figure})\n"] if figure else []
    parts = [f"    {' '.join(command.split())}\n", *drawn, ABOUT]
    pooled = {
        condition: {escaped(kind): found for kind, found in kinds.items()}
        for condition, kinds in pool(contents).items()
    }
    pooled_too, most = also_pooled(pooled), Counter[tuple[Any, ...]]()
    for condition, kinds in pooled.items():
        most[condition[1:]] = max(most[condition[1:]], len(kinds))
    for condition, kinds in pooled.items():
        if condition in pooled_too and len(kinds) < most[condition[1:]]:
            continue
        title = f"{condition.names}, {condition.where}, {condition.step_seconds:g} s per step"
        parts.append(f"## {escaped(title)}\n")
        parts += [*_rates(kinds), ""]
        if any(one.shared(other) for one, other in combinations(kinds.values(), 2)):
            parts += [*_differences(condition.names, kinds), ""]
        if len(condition.rules) == 1:
            parts += [*_unshared(condition.rules, kinds, pooled), *_failures(kinds), ""]
    return "\n".join(parts)


def bars(contents: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return success and scores of each policy, by condition, as `plots.success` draws them. More
    than MOST_BARS rules with otherwise equal conditions have one row together."""
    pooled, rows = pool(contents), []
    rules = Counter(condition[1:] for condition in pooled if len(condition.rules) == 1)
    for condition, kinds in pooled.items():
        if (len(condition.rules) > 1) != (rules[condition[1:]] > MOST_BARS):
            continue
        for kind, found in kinds.items():
            name = f"{condition.names}, {condition.split}: {kind}"
            row: dict[str, Any] = {"rule": name, "episodes": len(found.lines)}
            for key, name in (("opened", "success"), *((score, score) for score in SCORES)):
                rate = found.values(key).mean()
                row["success_rate" if key == "opened" else name] = rate
                row[f"{name}_interval"] = found.interval(key) or (rate, rate)
            rows.append(row)
    return rows


def _rates(kinds: Mapping[str, Pooled]) -> Iterator[str]:
    heads = ("policy", "seeds", "opened, by training", "success", "process score", "frames to open")
    yield f"| {' | '.join(heads)} | training |"
    yield "|---|---|---|---|---|---:|---|"
    for kind, pooled in kinds.items():
        seeds = sorted(pooled.seconds)
        by_seed = ", ".join("{} of {}".format(*pooled.opened(seed)) for seed in seeds)
        success = percent(pooled.values("opened").mean(), pooled.interval("opened"))
        score = mean(pooled.values("process_score").mean(), pooled.interval("process_score"))
        frames = pooled.values("frames")[pooled.values("opened") > 0]
        took = [seconds for seconds in pooled.seconds.values() if seconds]
        yield (
            f"| {kind} | {pooled.poses} | {by_seed} | {success} | {score} | "
            f"{f'{np.median(frames):.0f}' if len(frames) else ''} | "
            f"{', '.join(f'{seconds / 60:.0f} min' for seconds in took)} |"
        )


def _differences(rule: str, kinds: Mapping[str, Pooled]) -> Iterator[str]:
    yield "| difference | pairs | success, percentage points | p | process score | p |"
    yield "|---|---:|---|---:|---|---:|"
    for (first, one), (second, other) in combinations(kinds.items(), 2):
        pairs = [(one.lines[key], other.lines[key]) for key in one.shared(other)]
        if not pairs:
            continue
        cells = (f"{second} minus {first}", str(len(pairs)), *as_text(row_of(rule, pairs)))
        yield f"| {' | '.join(cells)} |"


def _unshared(
    rules: tuple[str, ...],
    kinds: Mapping[str, Pooled],
    pooled: Mapping[Condition, Mapping[str, Pooled]],
) -> Iterator[str]:
    """Yield a line for each policy that shares no episode of the rules with some other policy, in
    any condition, so that their comparison is not missing without a reason."""
    conditions = [found for condition, found in pooled.items() if condition.rules == rules]
    names = dict.fromkeys(name for found in conditions for name in found)
    for kind in kinds:
        met = {
            name
            for found in conditions
            for name in found
            if kind in found and found[kind].places & found[name].places
        }
        if others := [name for name in names if name not in met]:
            yield (
                f"{kind}: no shared episodes with {'; '.join(others)}. To compare them, evaluate "
                "with the same --rules, --safes, --split, --seed and --step-seconds.\n"
            )


def _failures(kinds: Mapping[str, Pooled]) -> Iterator[str]:
    yield "| policy | failures: step, next event, cause, episodes |"
    yield "|---|---|"
    for kind, pooled in kinds.items():
        counted = Counter(
            (line["failed_step"], line["failed_event"], line["cause"])
            for line in pooled.lines.values()
            if not line["opened"]
        )
        entries = [
            f"{step} {escaped(event)} {escaped(cause.replace('_', ' '))} {count}"
            for (step, event, cause), count in sorted(counted.items())
        ]
        yield f"| {kind} | {'; '.join(entries)} |"
