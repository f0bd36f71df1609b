"""Many evaluations on one page."""

import csv
import io
import json
import re
from pathlib import Path

import numpy as np
import pytest

from rulesafe_cli.cli import main
from rulesafe_core.errors import RuleSafeError
from rulesafe_data.intervals import wilson
from rulesafe_eval.exports import as_latex, rows
from rulesafe_eval.plots import success
from rulesafe_eval.statistics import bootstrap, mcnemar
from rulesafe_eval.submission import read_evaluation
from rulesafe_eval.table import bars, page, policy_label, pool
from rulesafe_studies.keyframes import OraclePhases

SUBMISSIONS = Path(__file__).parents[2] / "studies/submissions"


def results(memory, training, opened, split="varied", first=0):
    """results.json of a policy that succeeded in some of its episodes."""
    actor = {
        "kind": "checkpoint",
        "family": "dp3",
        "size": "tiny",
        "memory": memory,
        "training": {"seed": training, "steps": 100, "seconds": 120.0},
    }
    setup = {
        "policy": "/somewhere",
        "execute": 12,
        "execution": "blended",
        "control": "none",
        "step_seconds": 20.0,
    }
    request = {"setup": setup, "actor": actor, "safes": ["safe_02"], "split": split}
    request |= {"rules": ["rule_020"], "seed": first, "episodes": len(opened), "versions": {}}
    lines = [
        {
            "rule": "rule_020",
            "safe": "safe_02",
            "seed": first + number,
            "opened": bool(done),
            "process_score": 1.0 if done else 0.5,
            "order_free_score": 1.0,
            "frames": 300,
            "number": number,
            "clipped_actions": 0,
            "failed_step": 0 if done else 6,
            "failed_event": "" if done else "knob+",
            "cause": "" if done else "wrong_move",
        }
        for number, done in enumerate(opened)
    ]
    return {"format": 1, "request": request, "episodes": lines}


NONE = {"kind": "none"}
VQ = {"kind": "vq", "model": "all_rules_hand", "clusters": 4, "length": 40}


def test_training_seeds_are_counted_together():
    first, second = [1, 1, 0, 1, 0, 1], [1, 0, 0, 1, 1, 0]
    contents = [results(VQ, 0, first), results(VQ, 1, second)]
    ((condition, kinds),) = pool(contents).items()
    assert condition == (("rule_020",), "safe_02", "varied", 20.0)
    ((kind, pooled),) = kinds.items()
    assert kind == "dp3 tiny, vq (J = 4 of all_rules_hand, M = 40, 100 steps)"
    assert pooled.opened(0) == (4, 6) and pooled.opened(1) == (3, 6)
    assert pooled.interval("opened") == bootstrap([*first, *second], [*range(6)] * 2)


def test_a_privileged_memory_is_marked():
    request = results(OraclePhases(7).describe(), 0, [1])["request"]
    request["actor"]["privileged"] = True
    name = "dp3 tiny, rulesafe_studies.keyframes:OraclePhases (M = 7, privileged, 100 steps)"
    assert policy_label(request) == name
    request["actor"] = {"kind": "class", "privileged": True}
    assert policy_label(request) == "/somewhere (privileged)"
    request["actor"] = {"kind": "expert", "privileged": True}
    assert policy_label(request) == "/somewhere"


def test_one_training_seed_or_one_outcome_is_counted_by_wilson():
    ((_, kinds),) = pool([results(VQ, 0, [1, 1, 0, 1])]).items()
    assert next(iter(kinds.values())).interval("opened") == wilson(3, 4)
    ((_, kinds),) = pool([results(VQ, seed, [0, 0, 0]) for seed in (0, 1)]).items()
    assert next(iter(kinds.values())).interval("opened") == wilson(0, 3)  # places, not episodes


def test_kinds_are_compared_on_the_episodes_that_they_share():
    none, vq = [0] * 9 + [1], [1] * 8 + [0, 1]
    text = page([results(NONE, 0, none), results(VQ, 0, [*vq, 1, 1])], "the command")
    assert text.startswith("    the command")
    assert "| dp3 tiny, none (100 steps) | 0..9 | 1 of 10 | 10 % (2..40) |" in text
    assert f"| 10 | +80 (+50..+100) | {mcnemar(0, 8):.2g} |" in text
    assert "| 6 knob+ wrong move 9 |" in text


def test_splits_are_not_mixed():
    text = page([results(VQ, 0, [1]), results(VQ, 0, [0], split="shifted")], "")
    assert text.count("## rule_020") == 2 and "minus" not in text.split("##")[1]


def test_who_shares_no_episode_is_named_with_what_to_do():
    one, other = results(NONE, 0, [1, 0]), results(VQ, 0, [1, 0])
    assert "no shared episodes" not in page([one, other], "")
    other["request"]["safes"] = ["safe_01", "safe_02"]
    text = page([one, other], "")
    second, first = text.split("##")[1:]  # by their safes
    assert "(100 steps): no shared episodes with dp3 tiny, vq" in first
    assert ": no shared episodes with dp3 tiny, none (100 steps). To compare" in second
    assert "same --rules, --safes, --split" in first and "minus" not in text.split("##", 1)[1]
    other = results(VQ, 0, [1, 0], first=7)
    (section,) = page([one, other], "").split("##")[1:]
    assert section.count("no shared episodes") == 2 and "minus" not in section
    for line in other["episodes"]:
        line["rule"] = "rule_001"
    assert "no shared episodes" not in page([one, other], ""), "rules are never compared"


def test_rules_are_pooled_by_the_pose_of_the_safe():
    """All rules have the same poses, which are therefore resampled together."""
    opened = {"rule_001": [1, 1, 1, 0, 1, 0, 0, 1], "rule_020": [1, 1, 0, 0, 1, 0, 0, 1]}
    contents = [results(VQ, 0, opened["rule_020"]), results(VQ, 0, opened["rule_001"])]
    for line in contents[1]["episodes"]:
        line["rule"] = "rule_001"
    found = pool(contents)
    assert [condition.names for condition in found] == [
        "rule_001, rule_020",
        "rule_001",
        "rule_020",
    ]
    ((_, pooled),) = found[("rule_001", "rule_020"), "safe_02", "varied", 20.0].items()
    assert pooled.opened(0) == (9, 16)
    places = [("safe_02", n) for n in range(8)] * 2
    assert pooled.interval("opened") == bootstrap(np.concatenate([*opened.values()]), places)
    assert pooled.interval("opened")[1] - pooled.interval("opened")[0] > 0.6
    text = page([*contents, results(NONE, 0, opened["rule_020"])], "")
    first, second = text.split("##")[1:]
    assert first.startswith(" rule_001, rule_020, ") and "none" not in first
    assert "| 9 of 16 |" in first and "failures" not in first and "failures" in second
    assert "no shared episodes" not in text


def test_one_episode_each_is_enough_for_a_page():
    text = page([results(NONE, 0, [0]), results(VQ, 0, [1])], "")
    assert "| 1 | +1 of 1 | 1 | +0.50 | 1 |" in text and "Fewer than 6 pairs" in text


def test_few_places_have_no_bootstrap_interval_with_any_number_of_training_seeds():
    contents = [
        results(memory, seed, opened)
        for seed in (0, 1, 2)
        for memory, opened in ((NONE, [0, 0, 1]), (VQ, [1, 1, 0]))
    ]
    text = page([*contents[:-1], results(VQ, 2, [1, 0, 0])], "")
    assert "2 of 3, 2 of 3, 1 of 3 | 56 % | 0.78 |" in text
    assert "| 9 | +2 of 9 |" in text and "(+" not in text


@pytest.mark.parametrize("count", [1, 4, 5])
def test_a_bar_is_a_row_of_the_page_and_many_rules_have_one_together(count):
    contents = [results(VQ, seed, [1, 1, 0, 1, 0, seed]) for seed in (0, 1)]
    for rule in range(1, count):
        contents.append(results(VQ, 0, [0, 0, 0, 1, 0, 1]))
        for line in contents[-1]["episodes"]:
            line["rule"] = f"rule_{rule:03d}"
    rows = bars(contents)
    pooled = pool(contents)
    assert len(rows) == (count if count <= 4 else 1)
    for row in rows:
        name = row["rule"].partition(", varied")[0]
        (condition,) = (each for each in pooled if each.names == name)
        (found,) = pooled[condition].values()
        assert row["episodes"] == len(found.lines)
        assert row["success_rate"] == found.values("opened").mean()
        assert row["success_interval"] == found.interval("opened")
        assert row["process_score_interval"] == found.interval("process_score")
    success(rows)


def test_an_episode_counts_once():
    with pytest.raises(
        RuleSafeError, match="training seed 0, have rule_020 on safe_02 with seed 0"
    ):
        pool([results(VQ, 0, [1]), results(VQ, 0, [0])])
    ((_, kinds),) = pool([results(VQ, 0, [1]), results(VQ, 0, [0], first=1)]).items()
    assert np.array_equal(next(iter(kinds.values())).values("opened"), [1, 0])


def test_the_command_writes_a_page(tmp_path, capsys):
    for name, memory in (("none", NONE), ("vq", VQ)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "results.json").write_text(json.dumps(results(memory, 0, [1, 0])))
    out = tmp_path / "page.md"
    words = [str(tmp_path / "none"), str(tmp_path / "vq")]
    assert main(["eval", "table", *words, "--out", str(out)]) == 0
    assert out.read_text().startswith("    rulesafe eval table ")
    assert "(page.svg)" in out.read_text() and (tmp_path / "page.svg").read_text().count(
        "vq (J = 4"
    )
    assert main(["eval", "table", *words]) == 0
    assert "## rule_020, safe_02, split varied" in capsys.readouterr().out
    assert main(["eval", "table", str(tmp_path / "nothing")]) == 2


def test_a_table_of_no_results_is_an_error(tmp_path, capsys):
    assert main(["eval", "table", "--out", str(tmp_path / "page.md")]) == 2
    assert "one or more directories of results" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_table_for_a_paper_and_one_for_programs(tmp_path, capsys):
    submissions = [str(SUBMISSIONS / name) for name in ("two_level_all_rules", "expert")]
    assert main(["eval", "table", *submissions, "--format", "csv", "--labels", "ours, 50 %_x"]) == 0
    found = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    (ours,) = [row for row in found if row["rule"] == "20 rules" and row["policy"] == "ours"]
    assert (ours["rules"], ours["seeds"]) == ("20", "0..9")
    assert (ours["opened"], ours["episodes"], ours["success"]) == ("168", "200", "0.84")
    assert float(ours["success_low"]) < 0.84 < float(ours["success_high"])
    out = tmp_path / "table.tex"
    words = [*submissions, "--labels", "ours, 50 %_x", "--out", str(out)]
    assert main(["eval", "table", *words]) == 0
    text = out.read_text("utf-8")
    assert text.startswith("% rulesafe eval table ") and r"50 \%\_x & " in text
    assert re.search(
        r"ours & 0--9 & 168/200 & 84 \(\d\d--\d\d\) & 0\.93 \(0\.\d\d--0\.\d\d\) &", text
    )
    assert text.count(r"\begin") == text.count(r"\end") == text.count("multicolumn") == 1
    assert main(["eval", "table", *submissions, "--labels", "ours"]) == 2
    assert "1 labels for 2 results" in capsys.readouterr().err


def part_of(content, rules, label):
    """The episodes of an evaluation under some of its rules, as another policy."""
    lines = [line for line in content["episodes"] if line["rule"] in rules]
    request = content["request"] | {"rules": list(rules)}
    return content | {"request": request, "episodes": lines, "label": label}


def test_a_policy_under_one_rule_is_below_the_others_under_this_rule():
    every = read_evaluation(SUBMISSIONS / "expert") | {"label": "expert"}
    text = as_latex([every, part_of(every, ["rule_003"], "mine")], "")
    assert text.count("multicolumn") == 2
    (section,) = [part for part in text.split("multicolumn") if r"rule\_003" in part]
    assert re.findall(r"(\w+) & 0--9 & 10/10", section) == ["expert", "mine"]


def test_a_policy_under_some_rules_has_a_total_below_the_others_under_these_rules():
    every = read_evaluation(SUBMISSIONS / "expert") | {"label": "expert"}
    mine = part_of(every, ["rule_003", "rule_007"], "mine")
    first, second, *single = page([every, mine], "").split("\n## ")[1:]
    assert first.startswith("20 rules, 10 safes") and "mine" not in first
    assert second.startswith("rule_003, rule_007, 10 safes") and "| mine minus expert |" in second
    assert second.count("| 20 of 20 |") == 2
    assert [each[:8] for each in single] == ["rule_003", "rule_007"], "rules of both"
    latex = as_latex([every, mine], "").split("multicolumn")[1:]
    assert [re.findall(r"(\w+) & 0--9 & (\d+)/", part) for part in latex] == [
        [("expert", "200")],
        [("expert", "20"), ("mine", "20")],
    ]


def test_rows_with_other_poses_show_their_seeds():
    contents = [results(NONE, 0, [1] * 6), results(VQ, 0, [1] * 6, first=2)]
    contents.append(results(VQ, 0, [0], first=11))
    text = page(contents, "")
    assert "(100 steps) | 0..5 | 6 of 6 |" in text
    assert "| 2..7, 11 | 6 of 7 |" in text and "rows with other seeds have other poses" in text
    assert [row["seeds"] for row in rows(contents)] == ["0..5", "2..7, 11"]
    assert re.findall("& ([^&]*) & ./. &", as_latex(contents, "")) == ["0--5", "2--7, 11"]


def test_a_row_has_its_difference_to_the_first_on_the_episodes_of_both():
    contents = [results(NONE, 0, [0] * 8), results(VQ, 0, [1] * 7, first=1)]
    first, second = rows(contents)
    assert (first["pairs"], first["difference"], first["p"]) == ("", "", "")
    assert (second["pairs"], second["difference"]) == (7, 1.0)
    assert second["p"] == f"{mcnemar(0, 7):.2g}" and second["difference_low"] > 0.3
    assert re.search(r"& \$\+100\$ \(\$\+\d+\$ to \$\+100\$\) & 0.016 ", as_latex(contents, ""))
    (_, few) = rows([results(NONE, 0, [0]), results(VQ, 0, [1])])
    assert (few["pairs"], few["difference"], few["difference_low"]) == (1, 1.0, "")


def classes(module, versions, label=""):
    """Results of a class whose file had several versions, at other poses each."""
    contents = [results(NONE, 0, [1, 0], first=2 * i) for i in range(len(versions))]
    for content, version in zip(contents, versions, strict=True):
        content["request"]["actor"] = {"kind": "class", "files": {"mine.py": version}}
        content["request"]["setup"]["policy"] = module
        content["label"] = label
    return contents


def test_versions_of_an_edited_class_are_different_policies_and_with_a_label_trainings():
    names = [row["policy"] for row in rows(classes("mine:Mine", ["aa", "bb", "aa"]))]
    assert names == ["mine:Mine", "mine:Mine (version 2)"]
    same_poses = [*classes("mine:One", ["aa"], "ours"), *classes("mine:Two", ["aa"], "ours")]
    (row,) = rows(same_poses)
    assert (row["policy"], row["trainings"], row["episodes"]) == ("ours", 2, 4)


def test_a_label_pools_the_trainings_that_have_it():
    contents = [results({"kind": "none"}, seed, (1, 0, 1)) | {"label": "mine"} for seed in (0, 1)]
    contents[1]["request"]["actor"]["size"] = "base"
    (row,) = rows(contents)
    assert (row["policy"], row["trainings"], row["episodes"], row["opened"]) == ("mine", 2, 6, 4)
