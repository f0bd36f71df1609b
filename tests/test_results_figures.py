"""The counts in docs/results/data are those of the pages, and the script draws its figures."""

import importlib.util
import json
import math
import re
import subprocess
import sys
from collections import Counter
from csv import DictReader
from pathlib import Path

import pytest
from PIL import Image

from rulesafe_eval.comparison import compare, row_of
from rulesafe_eval.results import read_results
from rulesafe_eval.statistics import holm, mean, percent, recovery, recovery_text
from rulesafe_eval.table import pool_rules
from rulesafe_locks.proofs import prove
from rulesafe_locks.rules import RULES, load_rule

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs/results"
DATA = RESULTS / "data/twenty_rules"
MEMORY_DATA = RESULTS / "data/memories"
ROBUSTNESS = RESULTS / "data/robustness"
LENGTHS = RESULTS / "data/lengths"
SPLITS = ("train", "shifted")
TWENTY = "Twenty rules on ten safes"
LONG = "Memory length under long locks"
SIZES = "Inputs and sizes of the memories"
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


def figures(episodes):
    """Return the count, the success rate and the process score of some pooled episodes."""
    opened, scores = episodes.values("opened"), episodes.values("process_score")
    return [
        f"{opened.sum():.0f}/{len(opened)}",
        percent(opened.mean(), episodes.interval("opened")),
        mean(scores.mean(), episodes.interval("process_score")),
    ]


@pytest.mark.parametrize(
    ("name", "stored"),
    [
        ("VQ, J=4 (`two_level_all_rules` is the first)", ("vq_0", "vq_1", "vq_2")),
        ("VQ, J=4, camera images (`two_level_all_rules_images`)", ("images_0",)),
        ("raw history", ("raw_0", "raw_1", "raw_2")),
        ("no memory", ("none_0", "none_1", "none_2")),
        ("skills with the true next subtask (privileged)", ("skills",)),
    ],
)
def test_the_rows_of_twenty_rules_are_those_of_the_files(name, stored):
    ((_, _, *cells),) = [c for title, c in tables("policies") if title == TWENTY and c[0] == name]
    found = pooled(*stored)
    assert cells[:3] == figures(found)
    rates = Counter(line["rule"] for line in found.lines.values() if line["opened"])
    lowest, rules = min(rates[rule] for rule in RULES), len(found.lines) // len(RULES)
    assert cells[3].endswith(f"{lowest}/{rules}")
    worst = [rule for rule in RULES if rates[rule] == lowest]
    assert cells[3].startswith(worst[0] if len(worst) == 1 else {6: "six rules"}[len(worst)])


def test_the_differences_of_twenty_rules_are_those_of_the_files():
    stored = [
        [json.loads((DATA / f"{name}_{k}.json").read_text()) for name in ("none", "vq")]
        for k in range(3)
    ]
    rows = [compare(first, second)["rows"][0] for first, second in stored]
    only = [sum(row[f"only_{which}"] for row in rows) for which in ("first", "second")]
    text = " ".join((RESULTS / "policies.md").read_text("utf-8").split())
    pairs, (without, tokens) = sum(row["pairs"] for row in rows), only
    assert f"Of {pairs} pairs of episodes, {tokens} succeed only with memory" in text
    assert f"and {without} only without" in text
    assert all(f"{row['success_p']:.1g}" == "0.002" for row in rows)
    second = stored[0][1]
    row = compare(json.loads((DATA / "images_0.json").read_text()), second)["rows"][0]
    assert "({} and {} of 200, p = {:.2f})".format(*row["opened"], row["success_p"]) in text
    raw, tokens = (pooled(*(f"{name}_{k}" for k in range(3))) for name in ("raw", "vq"))
    row = row_of("all", [(raw.lines[key], tokens.lines[key]) for key in raw.shared(tokens)])
    shown = points(row).replace(" (", " percentage points (").removesuffix(")")
    assert f"minus raw history is {shown}, p = {row['success_p']:.2g}; {row['pairs']} pairs" in text


def test_the_figures_out_of_distribution_are_those_of_the_file():
    found = pooled("../robustness/vq_0_shifted")
    text = " ".join((RESULTS / "policies.md").read_text("utf-8").split())
    opened, scores = found.values("opened"), found.values("process_score")
    rate = percent(opened.mean(), found.interval("opened"))
    score = mean(scores.mean(), found.interval("process_score"))
    assert (
        f"in {opened.sum():.0f} of {len(opened)}, {rate}, with a process score of {score}" in text
    )
    for safe in ("safe_05", "safe_10"):
        count = sum(line["opened"] for key, line in found.lines.items() if key[2] == safe)
        assert f"{count} of 100 on {safe}" in text


def test_the_figures_of_recovery_and_of_new_rules_are_those_of_the_files():
    text = " ".join((RESULTS / "policies.md").read_text("utf-8").split())
    read = {
        name: read_results(ROBUSTNESS / f"vq_0_{name}.json") for name in ("turn-back", "unseen")
    }
    assert recovery_text(recovery(read["turn-back"]["episodes"])) in text
    episodes = read["unseen"]["episodes"]
    opened = sum(e["opened"] for e in episodes)
    score = sum(e["process_score"] for e in episodes) / len(episodes)
    assert f"opens {opened} of {len(episodes)} (process score {score:.2f})" in text
    wrong = sum(e["cause"] == "wrong_move" for e in episodes)
    assert f"{wrong} of the {len(episodes) - opened} failures are wrong moves" in text


def test_the_figures_of_another_episodes_memory_are_those_of_the_files():
    text = " ".join((RESULTS / "policies.md").read_text("utf-8").split())
    paths = DATA / "vq_0.json", ROBUSTNESS / "vq_0_another.json", MEMORY_DATA / "time_0.json"
    own, another, time = (read_results(path) for path in paths)
    row = compare(own, another)["rows"][0]
    assert f"it opens {row['opened'][1]} of 200, p = {row['success_p']:.2g} without" in text
    assert f"elapsed time as memory ({compare(time, another)['rows'][0]['opened'][0]})" in text
    free = {rule for rule in RULES if prove(load_rule(rule)).bits < 0.5}

    def opened(content, among):
        found = [e["opened"] for e in content["episodes"] if e["rule"] in among]
        return sum(found), len(found)

    shown = "({} of {}, with its own memory {})"
    assert shown.format(*opened(another, free), opened(own, free)[0]) in text
    others = set(RULES) - free
    assert f"from {opened(own, others)[0]} to {opened(another, others)[0]} of 120" in text
    shown = "{} of {} episodes under rules that require no bit (VQ, J=4: {}), and {} of {} under"
    figures = (*opened(time, free), opened(own, free)[0], *opened(time, others))
    assert shown.format(*figures) + f" the others ({opened(own, others)[0]})" in text


def test_the_figures_of_interference_are_those_of_the_files():
    text = " ".join((RESULTS / "policies.md").read_text("utf-8").split())
    episodes = read_results(ROBUSTNESS / "vq_0_interference.json")["episodes"]
    safes = {e["safe"] for e in episodes}
    assert safes == {"safe_01", "safe_02", "safe_03"}
    own = [e for e in read_results(DATA / "vq_0.json")["episodes"] if e["safe"] in safes]
    opened, without = (sum(e["opened"] for e in found) for found in (episodes, own))
    assert f"opens {opened} of {len(episodes)} (safe_01 to safe_03" in text
    assert f"without these motions {without} of {len(own)}" in text
    none = [e for e in episodes if not e["steps_done"]]
    assert f"In {len(none)} of the {len(episodes)} it completes no step" in text
    handle = [e for e in none if e["due"] == "knob+" and "handle" in e["touched"]]
    assert len(handle) > len(none) / 2, "most touch the handle while the knob is due"


def test_the_rows_of_other_memories_are_those_of_the_files():
    paths = {path.stem: path for path in (*DATA.glob("*_0.json"), *MEMORY_DATA.glob("*_0.json"))}
    contents = {name: json.loads(path.read_text()) for name, path in paths.items()}
    known = [name for name in memory_names() if f"{name}_0" in paths]
    vq = contents["vq_0"]
    compared = [name for name in known if name != "vq"]
    found = {name: compare(vq, contents[f"{name}_0"])["rows"][0] for name in compared}
    corrected = dict(zip(compared, holm([r["success_p"] for r in found.values()]), strict=True))
    expected = []
    for name in known:
        folder = "" if paths[f"{name}_0"].parent == DATA else "../memories/"
        shown = points(found[name]) if name in found else ""
        p = f"{corrected[name]:.2g}" if name in corrected else ""
        cells = figures(pooled(f"{folder}{name}_0"))
        expected.append((memory_names()[name], *cells, shown, p))
    _, *printed = [cells for title, cells in tables("policies") if title == "Other memories"]
    assert printed == expected and len(printed) > 6


def points(row):
    """Return the difference of the success rates of a comparison in percentage points."""
    low, high = row["success_interval"]
    return "{:+.1f} ({:+.1f}..{:+.1f})".format(
        *(100 * value for value in (row["success_difference"], low, high))
    )


def memory_names():
    """Return the names of memories in the figure and in the table."""
    spec = importlib.util.spec_from_file_location("figures", ROOT / "scripts/results_figures.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.MEMORIES


def test_the_failures_of_the_privileged_memory_are_those_of_the_file():
    skills = {key[1:]: line["opened"] for key, line in pooled("skills").lines.items()}
    lines = pooled("../memories/oracle_0").lines.items()
    failed = [skills[key[1:]] for key, line in lines if not line["opened"]]
    text = " ".join((RESULTS / "policies.md").read_text("utf-8").split())
    assert f"in {sum(failed)} of its {len(failed)} failures the skills open the safe" in text


def test_the_figures_of_memory_lengths_are_those_of_the_files():
    contents = {m: read_results(LENGTHS / f"vq_M{m}_0.json") for m in (20, 40, 60)}
    _, *printed = [cells for title, cells in tables("policies") if title == LONG]
    for (title, *cells), (m, content) in zip(printed, contents.items(), strict=True):
        assert title.startswith(f"M={m} ")
        assert cells[:3] == figures(pool_rules([content]))
        if m != 40:
            row = compare(contents[40], content)["rows"][0]
            assert cells[3:] == [points(row), f"{row['success_p']:.2g}"]


CONTROLS, KEYFRAMES = "vq_memory_node.controls", "vq_memory_node.keyframes"
KINDS = {
    "none": ("none", {}),
    "scenes": ("none", {}),
    "time": (f"{CONTROLS}:ElapsedTime", {}),
    "counter": (f"{CONTROLS}:StepCounter", {}),
    "grasp": (f"{CONTROLS}:GraspBit", {}),
    "releases": (f"{KEYFRAMES}:GraspKeyframes", {}),
    "joints": (f"{CONTROLS}:QuantisedJoints", {}),
    "random": (f"{CONTROLS}:RandomClusters", {}),
    "vq_all_joints": ("vq", {"model": "all_rules"}),
    "vq_J2": ("vq", {"clusters": 2}),
    "vq": ("vq", {}),
    "vq_J32": ("vq", {"clusters": 32}),
    "vq_J256": ("vq", {"clusters": 256}),
    "raw": ("raw", {}),
    "gru": ("raw", {}),
    "transformer": ("raw", {}),
    "actions": (f"{CONTROLS}:PastActions", {}),
    "oracle": (f"{KEYFRAMES}:OraclePhases", {}),
}
"""Memories of the study `memories`, as arguments of `make_memory`."""


def test_the_sizes_of_the_memories_are_those_of_their_networks():
    """Check the values, bits and parameters of the table, and that it has a row for each result."""
    import torch

    from policy_node.families import find_config, make_network
    from vq_memory_node.memory import make_memory

    _, *printed = [cells for title, cells in tables("policies") if title == SIZES]
    names = {title: name for name, title in memory_names().items()}
    stored = {path.stem for path in (*DATA.glob("*_0.json"), *MEMORY_DATA.glob("*_0.json"))}
    assert {names[cells[0]] for cells in printed} == {n for n in KINDS if f"{n}_0" in stored}
    for title, _, *cells in printed:
        name = names[title]
        kind, settings = KINDS[name]
        shape = make_memory(kind, **settings).shape
        size = name if name in ("scenes", "gru", "transformer") else "tiny"
        with torch.device("meta"):
            network = make_network("two_level", find_config("two_level", size), shape)
        parts = {part: module for part, module in network.parts().items() if part != "skills"}
        count = sum(value.numel() for part in parts.values() for value in part.parameters())
        values = {
            "none": "",
            "tokens": f"{shape.length} of {shape.vocabulary}",
            "raw": f"{shape.length} x 13",
        }[shape.kind]
        bits = f"{shape.length * math.log2(shape.vocabulary):.0f}" if shape.vocabulary else ""
        assert cells == [values, bits, f"{round(count, -3):,}".replace(",", " ")]


def test_most_failures_of_twenty_rules_are_the_same_in_all_trainings():
    failed = Counter(
        key[1:] for key, e in pooled("vq_0", "vq_1", "vq_2").lines.items() if not e["opened"]
    )
    always = [key for key, count in failed.items() if count == 3]
    skills = {key[1:]: line["opened"] for key, line in pooled("skills").lines.items()}
    text = " ".join((RESULTS / "policies.md").read_text("utf-8").split())
    assert f"{len(always)} of the {len(failed)} episodes with a failure fail in all three" in text
    assert f"the skills open {sum(skills[key] for key in always)} of these {len(always)}" in text
    hard = sum(n for (_, safe, _), n in failed.items() if safe in ("safe_06", "safe_07", "safe_08"))
    assert f"{hard} of {sum(failed.values())} on safe_06, safe_07 and safe_08" in text


def test_the_rates_of_the_first_table_are_those_of_the_file():
    memories = {"no memory": "none", "raw history": "raw", "VQ (J=4)": "vq"}
    found = [c for title, c in tables("policies") if c[0] in memories and title != TWENTY]
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
        rule = name if name.startswith("rule_") else "all"
        row = pick(rows("expert.csv"), page=source, by="rule", rule=rule)
        low, high, frames, seconds, planning, states = (row[key] for key in EXPERT)
        counts = f"{row['opened']}/{row['attempts']}"
        wanted = [counts, "100.0 %", f"{low}..{high}", frames, seconds, f"{planning} %", states]
        assert cells[:7] == wanted
        assert cells[7:] == ([row["all_h"]] if row["all_h"] else [])
        found += 1
    assert found == {"expert": 5, "sampled": 1}[page]


def test_sums_of_the_expert_are_those_of_its_rules_and_safes():
    for page in ("expert", "sampled", "demonstrations"):
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
