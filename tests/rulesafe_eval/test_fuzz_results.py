"""Results with changed values: every command prints a result or one line."""

import copy
import json
import random

import pytest

from rulesafe_core.errors import RuleSafeError
from rulesafe_eval.comparison import compare
from rulesafe_eval.plots import success, svg
from rulesafe_eval.results import read_results
from rulesafe_eval.submission import FORMAT, read_submission
from rulesafe_eval.table import bars, page

VALUES = [
    *(None, True, -1, 0, 7, 1.5, 10**12, 10**400, 1e308, float("nan"), float("inf")),
    *("", "x", "a|b", "<b>&\n`_*", "$x^$", "\ud800", "\u202e", "x" * 5000, "/../..", "expert"),
    *([], [1], ["a", "a"], [[]], {}, {"kind": "x"}, {"a": None}),
]

EPISODE = {
    **{"rule": "rule_020", "safe": "safe_02", "opened": True, "process_score": 1.0},
    **{"order_free_score": 1.0, "frames": 300, "failed_step": 0, "failed_event": ""},
    **{"cause": "", "clipped_actions": 0},
}
ACTOR = {
    **{"kind": "checkpoint", "family": "dp3", "size": "tiny", "privileged": False},
    "memory": {"kind": "vq", "model": "all_rules_hand", "clusters": 4, "length": 40},
    "training": {"seed": 0, "steps": 100, "seconds": 120.0, "encoder": "ten_safes"},
}
REQUEST = {
    **{"rules": ["rule_020"], "safes": ["safe_02"], "split": "varied", "seed": 0, "episodes": 2},
    **{"files": {}, "locks": {}, "versions": {"physics": "2"}, "actor": ACTOR},
    "setup": {
        **{"policy": "mine", "execute": 12, "execution": "blended", "step_seconds": 20.0},
        **{"variant": "", "disturbances": ""},
    },
}
CONTENT = {
    **{"format": 1, "request": REQUEST, "complete": True, "summary": [], "failures": []},
    "episodes": [{**EPISODE, "number": number, "seed": number} for number in range(2)],
}


def changed(content, choices):
    """Return a copy with a value replaced, removed or added at a random place."""
    places, content = [], copy.deepcopy(content)
    level = [content]
    for value in level:
        keys = list(value) if isinstance(value, dict) else range(len(value))
        places += [(value, key) for key in keys]
        level += [value[key] for key in keys if isinstance(value[key], dict | list)]
    at, key = choices.choice(places)
    if isinstance(at, dict) and choices.random() < 0.1:
        del at[key]
    else:
        at[key] = choices.choice(VALUES)
    return content


@pytest.mark.parametrize("count", [200, pytest.param(10_000, marks=pytest.mark.thorough)])
def test_changed_results_are_read_or_refused(tmp_path, count):
    choices, refused, path = random.Random(count), 0, tmp_path / "results.json"
    for number in range(count):
        content = changed(CONTENT, choices)
        path.write_text(json.dumps(content))
        try:
            found = read_results(path)
            compare(found, CONTENT)
            text = page([found, CONTENT], "command")
            text.encode()
            assert "<b>" not in text
            if number % 20 == 0:
                svg(success(bars([found])))
        except RuleSafeError as error:
            assert str(error).isprintable() and len(str(error)) < 7000
            refused += 1
        path.write_text(json.dumps(content | {"format": FORMAT}))
        try:
            read_submission(path)
        except RuleSafeError:
            refused += 1
    assert refused > count
