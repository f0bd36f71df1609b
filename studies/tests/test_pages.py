"""The tables of the pages are those of the data, and the figures are drawn."""

import json
import re

import numpy as np
import pytest
from PIL import Image

from rulesafe_core.errors import RuleSafeError
from rulesafe_eval.table import Pooled
from rulesafe_locks.proofs import prove
from rulesafe_locks.rules import RULES, load_rule
from rulesafe_studies import csv_tables, pages, tables
from rulesafe_studies.data import DATA, RESULTS, collect, pick, pooled, read_csv, stored
from rulesafe_studies.differences import difference, holm
from rulesafe_studies.figures import draw_figures


def test_the_written_tables_are_those_of_the_data():
    """Each block is in one page."""
    assert pages.write(check=True) == 0, "call python -m rulesafe_studies pages"
    found = [
        name for path in pages.pages() for _, name, *_ in pages.BLOCK.findall(path.read_text())
    ]
    assert sorted(found) == sorted(pages.BLOCKS)


def test_every_stored_evaluation_has_a_row():
    memories = {path.stem.rpartition("_")[0] for path in (DATA / "memories").glob("*.json")}
    assert memories <= set(tables.MEMORIES)
    conditions = {f"vq_0_{name}" for name in tables.CONDITIONS} | set(tables.GENERATED)
    conditions |= {f"{name}_0_shifted" for name in tables.COMPARED}
    assert {path.stem for path in (DATA / "robustness").glob("*.json")} <= conditions


def test_results_of_a_study_are_collected_under_the_names_of_the_tables(tmp_path, capsys):
    content = {
        "request": {"setup": {"policy": "/runs/policies/vq_0"}},
        "episodes": [{"rule": "rule_001", "variation": {}, "opened": True}],
    }
    for name in ("network_vq_0_nominal", "network_raw_1_nominal_turn-back", "other_vq_0_nominal"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "results.json").write_text(json.dumps(content))
    (tmp_path / "network_none_0_nominal").mkdir()  # not complete
    collect(tmp_path, "network", tmp_path / "data")
    found = sorted((tmp_path / "data").rglob("*.json"))
    assert [path.name for path in found] == ["raw_1_turn-back.json", "vq_0.json"]
    stored = json.loads(found[0].read_text())
    assert stored["episodes"] == [{"rule": "rule_001", "opened": True}]
    assert stored["request"]["setup"]["policy"] == "vq_0"
    assert capsys.readouterr().out.splitlines() == list(map(str, found))
    with pytest.raises(RuleSafeError, match="no complete results of tokens"):
        collect(tmp_path, "tokens", tmp_path / "data")


PAGE = """# Title

<!-- begin: lengths -->

| memory length | opened |
|---|---:|
| M=20 | 1/2 |

<!-- end: lengths -->
"""


def test_rows_are_replaced_and_the_head_stays(monkeypatch):
    monkeypatch.setitem(pages.BLOCKS, "lengths", lambda: [("M=20", "2/2"), ("M=40", "")])
    text = pages.written(PAGE)
    assert text == PAGE.replace("| M=20 | 1/2 |\n", "| M=20 | 2/2 |\n| M=40 | |\n")
    monkeypatch.setitem(pages.BLOCKS, "lengths", lambda: "Text.")
    assert pages.written(text).endswith(
        "<!-- begin: lengths -->\n\nText.\n\n<!-- end: lengths -->\n"
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("lengths", "length", "unknown block 'length'; valid: additions"),
        ("| memory length", "memory length", "lengths does not begin with the head of a table"),
    ],
)
def test_a_page_with_a_wrong_block_is_refused(old, new, message):
    with pytest.raises(RuleSafeError, match=re.escape(message)):
        pages.written(PAGE.replace(old, new))


@pytest.mark.parametrize("trainings", [(1, 1), (1, 3), (3, 3)])
def test_an_interval_of_a_difference_contains_the_variation_of_trainings(trainings):
    """Two policies at ten poses, equal except for a constant difference and their trainings."""

    def policy(count, extra):
        lines = {
            (seed, f"rule_{rule:03}", "safe_01", pose): {"opened": rule < 5 + extra + seed}
            for seed in range(count)
            for rule in range(20)
            for pose in range(10)
        }
        return Pooled(lines)

    first, second = policy(trainings[0], 0), policy(trainings[1], 4)
    found = difference(first, second)
    mean = 5 * (4 + (trainings[1] - trainings[0]) / 2)
    assert found.mean == pytest.approx(mean) and found.p == pytest.approx(2 / 2**10)
    spread = [5 * (count - 1) for count in trainings]
    low, high = mean - sum(spread) / 2, mean + sum(spread) / 2
    assert low - 1e-9 <= found.low and found.high <= high + 1e-9
    assert (found.low < found.high) == (max(trainings) > 1)


def test_the_difference_of_trainings_with_poses_of_their_own_is_that_at_the_same_poses():
    def policy(opened):
        return Pooled(
            {
                (seed, "rule_001", "safe_01", 10 * seed + pose): {"opened": pose < count}
                for seed, count in enumerate(opened)
                for pose in range(10)
            }
        )

    first = policy((4, 2))
    assert difference(first, policy((6, 3))).mean == pytest.approx(15)
    assert difference(first, policy((6,))).mean == pytest.approx(20)


def test_the_memoryless_oracle_opens_the_rules_that_are_proved_to_need_no_memory():
    opened = dict.fromkeys(RULES, 0)
    for line in pooled(stored("memoryless")).lines.values():
        opened[line["rule"]] += line["opened"]
    assert opened == {rule: 10 * prove(load_rule(rule)).memoryless for rule in RULES}


def test_each_episode_is_in_one_group_of_bits():
    found = pooled(stored("vq"))
    keys = [key for group in tables.by_bits(found) for key in group.lines]
    assert sorted(keys) == sorted(found.lines)


def test_pooled_counts_are_sums_and_rates_are_theirs():
    keys = ("policy", "memory", "J", "M", "rule", "split")
    for row in csv_tables.policies():
        if row["rate"]:
            share = 100 * int(row["opened"]) / int(row["episodes"])
            assert float(row["low"]) <= share <= float(row["high"])
            assert round(share) == int(row["rate"])
        if row["training"] == "all":
            same = {key: row[key] for key in keys}
            parts = [pick(csv_tables.policies(), training=seed, **same) for seed in "01"]
            for count in ("opened", "episodes"):
                assert int(row[count]) == sum(int(part[count]) for part in parts)


def test_sums_of_the_expert_are_those_of_its_rules_and_safes():
    for page in ("expert", "sampled", "demonstrations", "programs"):
        rows = [row for row in read_csv(DATA / "expert.csv") if row["page"] == page]
        total = pick(rows, rule="all")
        for by in ("rule", "safe"):
            parts = [row for row in rows if row["by"] == by and row["rule"] != "all"]
            for count in ("opened", "attempts"):
                assert int(total[count]) == sum(int(row[count]) for row in parts)


def test_the_figures_are_drawn(tmp_path):
    draw_figures(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {p.name for p in RESULTS.glob("*.png")}
    for path in tmp_path.iterdir():
        with Image.open(path) as drawn, Image.open(RESULTS / path.name) as kept:
            assert drawn.size == kept.size
            assert len(np.unique(np.asarray(drawn.convert("L")))) > 50


def test_holms_correction():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.9]) == [1.0, 1.0]  # increasing, and at most 1
    assert holm([]) == []
