"""The counts in docs/results/data are those of the pages, and the script draws its figures."""

import importlib
import json
import re
import subprocess
import sys
from collections import Counter
from csv import DictReader
from pathlib import Path

import pytest
from PIL import Image

from rulesafe_data.intervals import wilson
from rulesafe_eval.comparison import compare
from rulesafe_eval.results import read_results
from rulesafe_eval.statistics import holm, recovery, recovery_text
from rulesafe_eval.table import Pooled, pool_rules
from rulesafe_locks.proofs import prove
from rulesafe_locks.rules import RULES, load_rule

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs/results"
DATA = RESULTS / "data/twenty_rules"
MEMORY_DATA = RESULTS / "data/memories"
ROBUSTNESS = RESULTS / "data/robustness"
SPLITS = ("train", "shifted")
FIGURES = ("memory", "models", "vocabulary", "step_probe", "expert", "twenty_rules", "memories")
FIGURES += ("peers",)


def rows(name):
    lines = (RESULTS / "data" / name).read_text("utf-8").splitlines()
    return list(DictReader(line for line in lines if not line.startswith("#")))


def tables(page):
    """Return (heading before the row, cells) for each table row of a page."""
    found, title = [], ""
    for line in (RESULTS / f"{page}.md").read_text("utf-8").splitlines():
        if heading := re.match(r"(?:#+ )(.*)$", line):
            title = heading[1]
        elif line.startswith("| "):
            found.append((title, tuple(cell.strip() for cell in line[1:-1].split("|"))))
    return found


def ours():
    return [row for row in rows("policies.csv") if row["source"] == "ours"]


def pick(table, **wanted):
    """Return the only row of a file with these values."""
    (row,) = [row for row in table if wanted.items() <= row.items()]
    return row


def interval(row, start=""):
    keys = [f"{start}{end}" for end in ("", "_low", "_high")] if start else ["rate", "low", "high"]
    return "{} % ({}..{})".format(*(row[key] for key in keys))


def pooled(*names):
    """Return the episodes under all rules of some stored evaluations of one policy."""
    contents = [json.loads((DATA / f"{name}.json").read_text()) for name in names]
    return pool_rules(contents)


@pytest.fixture
def script(monkeypatch):
    """Import a module of scripts/."""
    monkeypatch.syspath_prepend(ROOT / "scripts")
    return importlib.import_module


def test_the_corrected_p_values_of_the_page():
    found = rows("policies_differences.csv")
    corrected = dict(enumerate(holm([float(row["p"]) for row in found])))

    def p_of(policy, minus, rule="rule_020", split="shifted"):
        wanted = {"policy": policy, "minus": minus, "rule": rule, "split": split}
        (number,) = (i for i, row in enumerate(found) if wanted.items() <= row.items())
        return corrected.pop(number)

    none, raw, vq = "DP3-SF, no memory", "DP3-SF + raw history", "DP3-SF + VQ (J=4)"
    stated = [p_of(vq, raw), p_of(vq, raw, "rule_001"), p_of(vq, none, "rule_001")]
    stated.append(p_of("pi0 tiny + VQ (J=4)", "pi0 tiny, no memory", split="train"))
    text = (RESULTS / "policies.md").read_text("utf-8")
    sentence = " ".join(text.split("With Holm's correction over the ")[1].split("\n- ")[0].split())
    assert sentence.startswith(f"{len(found)} comparisons of")
    numbers = re.findall(r"0\.\d+", sentence.split("It does not for")[1])
    assert numbers == [f"{p:.2g}" for p in stated]

    significant = [found[i] for i, p in corrected.items() if p < 0.05]
    against_none = [row for row in significant if row["minus"].endswith("no memory")]
    assert {row["policy"].split()[0] for row in against_none} == {"DP3-SF", "RDT", "CogACT"}
    of_rule_001 = [row for row in against_none if row["rule"] == "rule_001"]
    assert [(row["policy"], row["split"]) for row in of_rule_001] == [(raw, "shifted")]
    of_rule_020 = [row for row in found if row["rule"] == "rule_020" and row["minus"] == none]
    assert all(row in significant for row in of_rule_020)
    others = [row for row in significant if row not in against_none]
    assert len(others) == 3 and all("J=256" in row["policy"] for row in others)


def test_the_written_tables_are_those_of_the_files(script):
    module = script("results_tables")
    for page in module.TABLES:
        text = (RESULTS / f"{page}.md").read_text("utf-8")
        assert module.written(page) == text, "run scripts/results_tables.py"
    kept = {path.stem.rpartition("_")[0] for path in MEMORY_DATA.glob("*.json")}
    assert kept <= set(module.MEMORIES), "each evaluation has a row"
    kept = {path.stem for path in ROBUSTNESS.glob("*.json")}
    known = {f"vq_0_{name}" for name in module.CONDITIONS} | set(module.GENERATED)
    assert kept <= known | {f"{name}_0_shifted" for name in module.COMPARED}


def page_of_twenty_rules():
    return " ".join((RESULTS / "twenty_rules.md").read_text("utf-8").split())


def test_the_figures_without_memory_are_those_of_the_files(script):
    text, counts = page_of_twenty_rules(), Counter()
    for k in range(3):
        none, tokens = (read_results(DATA / f"{name}_{k}.json") for name in ("none", "vq"))
        row = compare(none, tokens)["rows"][0]
        counts.update({key: row[key] for key in ("pairs", "only_first", "only_second")})
        assert f"{row['success_p']:.1g}" == "0.002"
    pairs, without, tokens = counts.values()
    assert f"Of {pairs} pairs of episodes, {tokens} succeed only with memory" in text
    assert f"and {without} only without" in text
    rules = {rule for rule in RULES if not prove(load_rule(rule)).memoryless}
    opened = Counter(dict.fromkeys(rules, 0))
    for line in pooled("none_0", "none_1", "none_2").lines.values():
        opened[line["rule"]] += line["opened"]
    others = [opened[rule] for rule in rules if opened[rule]]
    assert len(others) == len(rules) - 6 == 6, "six are never opened, six others are"
    assert f"in {sum(others)} of {30 * len(others)} episodes without memory" in text


def test_the_counts_with_camera_images_are_those_of_the_files():
    raw, none = (pooled(f"../images/{name}_0").opened(0)[0] for name in ("raw", "none"))
    shown = f"with the raw history opens {raw} and that without memory {none} of 200"
    assert shown in page_of_twenty_rules()


def test_the_rates_of_the_shipped_policy_for_rule_001_are_those_of_the_files():
    text = (ROOT / "docs/policies.md").read_text("utf-8")
    for split in SPLITS:
        found = read_results(RESULTS / f"data/shipped/dp3_rule_001_{split}.json")
        opened = sum(e["opened"] for e in found["episodes"])
        low, high = (100 * end for end in wilson(opened, 50))
        assert f"`{split}` {opened} of 50 ({low:.0f}..{high:.0f} %)" in text


def test_the_memoryless_oracle_opens_the_rules_that_are_proved_to_need_no_memory():
    opened = Counter(dict.fromkeys(RULES, 0))
    for line in pooled("memoryless_0").lines.values():
        opened[line["rule"]] += line["opened"]
    assert opened == {rule: 10 * prove(load_rule(rule)).memoryless for rule in RULES}
    share = 100 * opened.total() / (10 * len(RULES))
    assert f"none under the twelve others: {share:.0f} %." in page_of_twenty_rules()


def test_memories_differ_where_locks_require_much_memory(script):
    tables, text = script("results_tables"), page_of_twenty_rules()
    names = [name for name in tables.MEMORIES if tables.stored(name)]
    groups = {n: tables.by_bits(tables.pooled(tables.stored(n))) for n in (*names, "skills")}
    keys = [key for group in groups["vq"] for key in group.lines]
    assert sorted(keys) == sorted(pooled("vq_0", "vq_1", "vq_2").lines), "each is in one group"
    least = {name: 100 * groups[name][0].values("opened").mean() for name in names}
    none, others = least.pop("none"), least.values()
    shown = f"all memories open {min(others):.0f} to {max(others):.0f} % of the episodes"
    assert f"{shown}, and the policy without memory {none:.0f} %." in text
    assert f"open all episodes of the first group, and opens {none:.0f} %." in text
    most = {name: [f"{n:.0f}" for n in counts(each[-1])] for name, each in groups.items()}
    assert (
        "the policy opens {} of {} episodes with VQ, J=4, with the raw history {}, with the "
        "elapsed time {}, and without memory {}; with the true next subtask, the skills open all {}"
    ).format(
        *most["vq"], most["raw"][0], most["time"][0], most["none"][0], most["skills"][0]
    ) in text
    assert most["skills"][0] == most["skills"][1]


def counts(found):
    opened = found.values("opened")
    return opened.sum(), len(opened)


LOWER = {"time", "random", "vq_all_joints", "vq_J2", "vq_M20"}
ALIKE = {"vq_J32", "vq_J256", "vq_M60", "fsq", "gru", "actions", "grasp", "joints", "oracle"}
SLIGHTLY_LOWER = {"counter", "releases", "release_tokens"}
LOWER_ONCE = {"scenes", "sparse_scenes", "transformer", "token_changes"}
"""Memories by the text's statement about their success, compared with VQ, J=4."""


def test_differences_are_claimed_for_memories_with_several_trainings(script):
    tables, text = script("results_tables"), page_of_twenty_rules()
    rows = {cells[0]: cells for cells in tables.memories()}
    named = {name: rows[row.title] for name, row in tables.MEMORIES.items() if row.title in rows}
    assert {*named} - LOWER - ALIKE - SLIGHTLY_LOWER - LOWER_ONCE == {"none", "raw", "vq"}
    assert all(len(tables.stored(name)) == 3 for name in LOWER)
    p = [[cells[-2:] for name, cells in named.items() if name in group] for group in (LOWER, ALIKE)]
    lower, corrected = ({each[k] for each in p[0]} for k in (0, 1))
    assert "(p = {} to {}, corrected {})".format(*sorted(lower, key=float), *corrected) in text
    assert all(float(each[0]) > 0.05 for each in p[1])
    difference = {name: float(cells[-3].split()[0]) for name, cells in named.items() if cells[-3]}
    assert all(abs(difference[name]) < 2 for name in ALIKE)
    ends = sorted(round(difference[name]) for name in SLIGHTLY_LOWER)
    assert f"({ends[-1]} to {ends[0]} points)" in text
    assert all(len(tables.stored(n)) == 1 and float(named[n][-2]) < 0.05 for n in LOWER_ONCE)
    shares = [named[name][2].split()[0] for name in ("vq_J2", "vq_M20", "grasp")]
    assert "have 40 bits: {}, {} and {} %.".format(*shares) in text


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (["raw_0", "raw_1", "raw_2"], ["vq_0", "vq_1", "vq_2"]),
        (["vq_0"], ["../images/vq_0"]),
        (["none_0"], ["../robustness/vq_0_shuffled"]),
    ],
)
def test_the_differences_in_the_text_are_those_of_the_files(first, second, script):
    row = script("results_differences").difference(pooled(*first), pooled(*second))
    text = re.sub(r"( percentage)? points|[(),;]", "", page_of_twenty_rules())
    shown = re.sub("[()]", "", row.text)
    assert shown in text
    if "none_0" not in first:
        assert f"{shown} p = {row.p:.2g}" in text


@pytest.mark.parametrize("trainings", [(1, 1), (1, 3), (3, 3)])
def test_an_interval_of_a_difference_contains_the_variation_of_trainings(trainings, script):
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
    found = script("results_differences").difference(first, second)
    mean = 5 * (4 + (trainings[1] - trainings[0]) / 2)
    assert found.mean == pytest.approx(mean) and found.p == pytest.approx(2 / 2**10)
    spread = [5 * (count - 1) for count in trainings]
    low, high = mean - sum(spread) / 2, mean + sum(spread) / 2
    assert low - 1e-9 <= found.low and found.high <= high + 1e-9
    assert (found.low < found.high) == (max(trainings) > 1)


def test_the_figures_out_of_distribution_are_those_of_the_files(script):
    found, text = pooled("../robustness/vq_0_shifted"), page_of_twenty_rules()
    tables = script("results_tables")
    raw = tables.compared(found, pooled("../robustness/raw_0_shifted"))
    counts = "{:.0f} and {:.0f} of 200".format(*raw["opened"])
    assert f"no difference between tokens and the raw history was found ({counts})" in text
    assert raw["success_p"] > 0.05
    for safe in ("safe_05", "safe_10"):
        count = sum(line["opened"] for key, line in found.lines.items() if key[2] == safe)
        assert f"{count} of 100 on {safe}" in text


def test_the_figures_of_recovery_are_those_of_the_file():
    shown = recovery_text(recovery(read_results(ROBUSTNESS / "vq_0_turn-back.json")["episodes"]))
    assert f"the policy recovers in {shown}" in page_of_twenty_rules()


def test_the_figures_of_new_locks_are_those_of_the_files():
    wrong, failed = Counter(), Counter()
    for name in ("vq_0", "generated_0"):
        episodes = read_results(ROBUSTNESS / f"{name}_unseen.json")["episodes"]
        wrong[name] = sum(e["cause"] == "wrong_move" for e in episodes)
        failed[name] = sum(not e["opened"] for e in episodes)
    same = [e["opened"] for e in episodes if e["safe"] == "safe_01"]
    assert f"the second row has {sum(same)} of {len(same)}." in page_of_twenty_rules()
    shown = "{} of the {} failures of the first row are wrong moves, and {} of the {} of the second"
    counts = [count[name] for name in ("vq_0", "generated_0") for count in (wrong, failed)]
    assert shown.format(*counts) in page_of_twenty_rules()


def test_the_counts_of_long_episodes_are_those_of_the_files():
    forty, sixty = (pooled(f"../lengths/vq_M{length}_0").lines for length in (40, 60))
    differ = [key for key in forty if forty[key]["opened"] != sixty[key]["opened"]]
    assert len(differ) == 1
    text = page_of_twenty_rules()
    assert f"one of the {len(forty)} pairs differs" in text
    times = sorted(line["simulated_time"] for line in forty.values() if line["opened"])
    late = [time for time in times if time > 80]
    shown = f"of the {len(times)} successful episodes with M=40, {len(late)} last more than 80 s"
    assert f"{shown}, all but three of these at most {late[-4]:.0f} s" in text


def test_the_figures_of_another_episodes_memory_are_those_of_the_files():
    text = page_of_twenty_rules()
    paths = DATA / "vq_0.json", ROBUSTNESS / "vq_0_another.json", MEMORY_DATA / "time_0.json"
    own, another, time = (read_results(path) for path in paths)
    assert f"elapsed time as memory ({compare(time, another)['rows'][0]['opened'][0]})" in text

    def opened(content, steps):
        found = [
            e["opened"] for e in content["episodes"] if prove(load_rule(e["rule"])).steps in steps
        ]
        return sum(found), len(found)

    few, many = range(1, 5), range(5, 9)
    (count, episodes), (same, _) = opened(another, few), opened(own, few)
    assert count == same and f"{count} of {episodes} episodes with either memory" in text
    (count, episodes), (before, _) = opened(another, many), opened(own, many)
    assert f"success falls from {before} to {count} of {episodes}." in text


def test_the_figures_of_interference_are_those_of_the_files():
    text = page_of_twenty_rules()
    episodes = read_results(ROBUSTNESS / "vq_0_interference.json")["episodes"]
    safes = {e["safe"] for e in episodes}
    assert safes == {"safe_01", "safe_02", "safe_03"}
    own = [e for e in read_results(DATA / "vq_0.json")["episodes"] if e["safe"] in safes]
    without = sum(e["opened"] for e in own)
    assert f"safe_01 to safe_03 only, without these motions {without} of {len(own)}" in text
    none = [e for e in episodes if not e["steps_done"]]
    assert f"In {len(none)} of the {len(episodes)} it completes no step" in text
    handle = [e for e in none if e["due"] == "knob+" and "handle" in e["touched"]]
    assert len(handle) > len(none) / 2, "most touch the handle while the knob is due"


def test_the_figures_of_the_additions_are_those_of_the_files(script):
    tables = script("results_tables")

    def of(data, name):
        return tables.pooled([RESULTS / f"data/additions/{data}_{name}.json"])

    def opened(data, name):
        return f"{of(data, name).values('opened').sum():.0f}"

    text = " ".join((RESULTS / "policies.md").read_text("utf-8").split())
    own, published = (
        [opened(data, name) for data in ("rule_001", "ten_safes")] for name in ("nothing", "all")
    )
    assert f"opens {own[0]} of 50 on one safe and {own[1]} of 50 on ten safes;" in text
    assert f"without augmentation {published[0]} and {published[1]}.**" in text
    frame = tables.compared(of("ten_safes", "nothing"), of("ten_safes", "safe_frame"))
    assert f"{frame['opened'][1]:.0f} of 50 without the safe's frame;" in text
    assert f"it opens {opened('rule_001', 'safe_frame')} without the frame" in text
    assert f"not significant (p = {frame['success_p']:.2g})" in text
    low, high = frame["process_score_interval"]
    shown = f"({frame['process_score_difference']:.2f}, {low:.2f}..{high:.2f}, "
    assert f"{shown}p = {frame['process_score_p']:.1g})" in text


def test_the_counts_with_shuffled_tokens_are_those_of_the_files():
    paths = DATA / "none_0.json", DATA / "vq_0.json", ROBUSTNESS / "vq_0_shuffled.json"
    none, own, shuffled = (sum(e["opened"] for e in read_results(p)["episodes"]) for p in paths)
    text = page_of_twenty_rules()
    assert f"it opens {shuffled} of 200, without memory {none} (" in text
    assert f"without disturbance ({own} of 200)" in text


def test_the_failures_of_the_privileged_memory_are_those_of_the_file():
    skills = {key[1:]: line["opened"] for key, line in pooled("skills_0").lines.items()}
    lines = pooled("../memories/oracle_0").lines.items()
    failed = [skills[key[1:]] for key, line in lines if not line["opened"]]
    text = page_of_twenty_rules()
    assert f"in {sum(failed)} of its {len(failed)} failures the skills open the safe" in text


def test_most_failures_of_twenty_rules_are_the_same_in_all_trainings():
    failed = Counter(
        key[1:] for key, e in pooled("vq_0", "vq_1", "vq_2").lines.items() if not e["opened"]
    )
    always = [key for key, count in failed.items() if count == 3]
    skills = {key[1:]: line["opened"] for key, line in pooled("skills_0").lines.items()}
    text = page_of_twenty_rules()
    shown = "occur in {} of the 200 episodes (rule and pose); {} of these fail in all three"
    assert shown.format(len(failed), len(always)) in text
    assert f"the skills open {sum(skills[key] for key in always)} of these {len(always)}" in text
    hard = sum(n for (_, safe, _), n in failed.items() if safe in ("safe_06", "safe_07", "safe_08"))
    shown = "of the {} failures in three trainings, {} are on safe_06, safe_07 and safe_08"
    assert shown.format(sum(failed.values()), hard) in text


def test_the_rates_of_the_first_table_are_those_of_the_file():
    memories = {"no memory": "none", "raw history": "raw", "VQ (J=4)": "vq"}
    found = [c for title, c in tables("policies") if c[0] in memories]
    assert [cells[0] for cells in found] == list(memories)
    for name, *rates in found:
        pooled = {"policy": "DP3-SF", "memory": memories[name], "training": "all"}
        conditions = [(rule, split) for rule in ("rule_001", "rule_020") for split in SPLITS]
        for (rule, split), printed in zip(conditions, rates, strict=True):
            assert printed == interval(pick(ours(), rule=rule, split=split, **pooled))


def test_the_counts_by_number_of_tokens_are_those_of_the_file():
    head, cells = [c for title, c in tables("policies") if title == "How many tokens"]
    same = {"policy": "DP3-SF", "memory": "vq", "rule": "rule_020", "split": "shifted"}
    for name, printed in zip(head[1:], cells[1:], strict=True):
        j, m = (name[2:], "40") if name[0] == "J" else ("4", name[2:4])
        seed = ("1" if m == "60" else "1 repeated") if "2nd" in name else "0"
        row = pick(ours(), J=j, M=m, training=seed, **same)
        assert printed == f"{row['opened']}/{row['episodes']}"


def test_the_counts_of_other_models_are_those_of_the_file():
    paper = [row for row in rows("policies.csv") if row["source"] == "paper"]
    differences = [
        r for r in rows("policies_differences.csv") if r["table"] in ("memory", "models")
    ]
    found = [cells for title, cells in tables("policies") if title == "Other models"][1:]
    assert [c[0] for c in found] == ["DP3-SF", "RDT tiny", "CogACT tiny", "pi0 tiny"]
    for name, tokens, none, p, theirs, *_ in found:
        here = {"policy": name, "rule": "rule_020", "split": "train"}
        here["training"] = "all" if name == "DP3-SF" else "0"
        for printed, memory in ((tokens, {"memory": "vq", "J": "4"}), (none, {"memory": "none"})):
            row = pick(ours(), **here, **memory)
            assert printed == f"{row['opened']}/{row['episodes']}"
        names = {"policy": f"{name} + VQ (J=4)", "minus": f"{name}, no memory"}
        assert p == pick(differences, rule="rule_020", split="train", **names)["p"]
        there = {"policy": re.split("[- ]", name)[0], "rule": "rule_020"}
        tokens_and_none = ({"memory": "vq", "J": "4", "M": "40"}, {"memory": "none"})
        rates = [pick(paper, **there, **memory)["rate"] for memory in tokens_and_none]
        assert theirs == "{} % and {} %".format(*rates)


def test_the_counts_of_four_rules_are_those_of_the_file():
    title = "Four rules in one policy"
    found = [c for t, c in tables("policies") if t == title and c[0].startswith("rule_")]
    assert [cells[0] for cells in found] == ["rule_001", "rule_002", "rule_003", "rule_005"]
    for rule, _, *cells in found:
        counts = [cell for cell in cells if "/" in cell]
        names = [(policy, memory) for policy in ("RDT", "pi0") for memory in ("none", "vq")]
        for (policy, memory), printed in zip(names, counts, strict=True):
            row = pick(ours(), policy=f"{policy} tiny, four rules", memory=memory, rule=rule)
            assert printed == f"{row['opened']}/{row['episodes']}"
        paper = [row for row in rows("policies.csv") if row["policy"] == "pi0, 20 rules"]
        rates = [pick(paper, memory=memory, rule=rule)["rate"] for memory in ("none", "vq")]
        assert cells[-1] == "{} %, {} %".format(*rates)


def test_pooled_counts_are_sums_and_rates_are_theirs():
    keys = ("policy", "memory", "J", "M", "rule", "split")
    for row in ours():
        if row["rate"]:
            share = 100 * int(row["opened"]) / int(row["episodes"])
            assert float(row["low"]) <= share <= float(row["high"])
            assert round(share) == int(row["rate"])
        if row["training"] == "all":
            same = [r for r in ours() if all(r[key] == row[key] for key in keys)]
            parts = [r for r in same if r["training"] in ("0", "1")]
            for count in ("opened", "episodes"):
                assert int(row[count]) == sum(int(part[count]) for part in parts)
    assert not [row for row, n in Counter(tuple(row.values()) for row in ours()).items() if n > 1]
    assert len(ours()) > 60


def test_failures_and_successes_are_all_episodes():
    failed = Counter()
    for row in rows("policies_failures.csv"):
        if row["table"] == "memory":
            failed[row["policy"], row["rule"], row["split"]] += int(row["episodes"])
    names = {"none": "DP3-SF, no memory", "raw": "DP3-SF + raw history"}
    pooled = [row for row in ours() if row["training"] == "all"]
    assert len(pooled) == 12
    for row in pooled:
        name = names.get(row["memory"], f"DP3-SF + VQ (J={row['J']})")
        closed = int(row["episodes"]) - int(row["opened"])
        assert failed[name, row["rule"], row["split"]] == closed


@pytest.mark.parametrize("name", ["step_probe", "token_stability"])
def test_the_memory_s_figures_are_those_of_the_files(name):
    found = 0
    for title, (source, *cells) in tables("memory"):
        probe = title.startswith("Memory tokens") and source.startswith("joints")
        stable = title.startswith("Tokens under noise") and source.startswith(("tokens", "raw"))
        if name == "step_probe" and probe:
            row = pick(rows("step_probe.csv"), rules="rule_020", input=source)
            wanted = [interval(row, f"{split}_accuracy") for split in SPLITS]
        elif name == "token_stability" and stable:
            row = pick(rows("token_stability.csv"), episodes="train", input=source)
            wanted = [interval(row, kind) for kind in ("noise", "faster", "slower")]
            wanted.append(f"{row['chance']} %" if row["chance"] else "")
        else:
            continue
        assert cells == wanted
        found += 1
    assert found == {"step_probe": 12, "token_stability": 5}[name]


EXPERT = ("low", "high", "frames", "seconds", "planning", "states_h")


@pytest.mark.parametrize("page", ["expert", "sampled"])
def test_the_expert_s_figures_are_those_of_the_file(page):
    found = 0
    for title, (name, *cells) in tables(page):
        if "/" not in cells[0] or "/h" in cells[0]:
            continue
        source = "sampled" if "generated" in name or page == "sampled" else "expert"
        source = "demonstrations" if title == "Demonstrations" else source
        source = "programs" if "programs" in name else source
        rule = name if name.startswith("rule_") else "all"
        row = pick(rows("expert.csv"), page=source, by="rule", rule=rule)
        low, high, frames, seconds, planning, states = (row[key] for key in EXPERT)
        counts = f"{row['opened']}/{row['attempts']}"
        rate = f"{100 * int(row['opened']) / int(row['attempts']):.1f} %"
        wanted = [counts, rate, f"{low}..{high}", frames, seconds, f"{planning} %", states]
        assert cells[:7] == wanted
        assert cells[7:] == ([row["all_h"]] if row["all_h"] else [])
        found += 1
    assert found == {"expert": 6, "sampled": 1}[page]


def test_sums_of_the_expert_are_those_of_its_rules_and_safes():
    for page in ("expert", "sampled", "demonstrations", "programs"):
        table = [row for row in rows("expert.csv") if row["page"] == page]
        total = pick(table, rule="all")
        for by in ("rule", "safe"):
            parts = [row for row in table if row["by"] == by and row["rule"] != "all"]
            for count in ("opened", "attempts"):
                assert int(total[count]) == sum(int(row[count]) for row in parts)


def test_the_script_draws_the_figures(tmp_path):
    command = [sys.executable, str(ROOT / "scripts/results_figures.py"), str(tmp_path)]
    subprocess.run(command, check=True)
    assert sorted(path.stem for path in tmp_path.iterdir()) == sorted(FIGURES)
    for name in FIGURES:
        with (
            Image.open(tmp_path / f"{name}.png") as drawn,
            Image.open(RESULTS / f"{name}.png") as kept,
        ):
            assert drawn.size == kept.size
            assert drawn.width >= 1400
    assert (tmp_path / "memory.png").stat().st_size <= 100_000
