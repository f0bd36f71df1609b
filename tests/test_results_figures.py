"""The counts in docs/results/data are those of the pages, and the script draws its figures."""

import re
import subprocess
import sys
from collections import Counter
from csv import DictReader
from pathlib import Path

import pytest
from PIL import Image

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs/results"
FIGURES = ("memory", "models", "vocabulary", "step_probe", "expert")


def rows(name):
    lines = (RESULTS / "data" / name).read_text("utf-8").splitlines()
    return list(DictReader(line for line in lines if not line.startswith("#")))


def tables(page):
    """Return (summary or heading before the row, cells) for each table row of a page."""
    found, title = [], ""
    for line in (RESULTS / f"{page}.md").read_text("utf-8").splitlines():
        if heading := re.match(r"(?:#+ |<summary>)(.*?)(?:</summary>)?$", line):
            title = heading[1]
        elif line.startswith("| "):
            found.append((title, tuple(cell.strip() for cell in line[1:-1].split("|"))))
    return found


def policy_of(name):
    """Return policy, memory, J and M of a name such as "DP3-SF + VQ (J=4, M=20)"."""
    if name.endswith(", no memory"):
        return name.removesuffix(", no memory"), "none", "", ""
    if name.endswith(" + raw history"):
        return name.removesuffix(" + raw history"), "raw", "", "40"
    policy, j, m = re.fullmatch(r"(.*) \+ VQ \(J=(\d+)(?:, M=(\d+))?\)", name).groups()
    return policy, "vq", j, m or "40"


def printed_policies():
    """Return the rows of policies.csv that the tables by policy of the page contain."""
    found = set()
    for title, (name, opened, *cells) in tables("policies"):
        if not title.startswith("Table: ") or not re.fullmatch(r"\d+/\d+(, \d+/\d+)*", opened):
            continue
        rule, split = re.search(r"(rule_\d+), split (\w+)", title).groups()
        rate = re.fullmatch(r"(\d+) % \((\d+)\.\.(\d+)\)", cells[0]).groups()
        counts = [part.split("/") for part in opened.split(", ")]
        seeds = ["0"] if len(counts) == 1 else ["0", "1"]
        if "second training" in title:
            seeds = ["1 repeated" if "M=40" in name else "1"]
        facts = (*policy_of(name), rule, split)
        for seed, (successes, episodes) in zip(seeds, counts, strict=True):
            found.add(
                (*facts, seed, successes, episodes, *(rate if len(counts) == 1 else [""] * 3))
            )
        if len(counts) > 1:
            total = [str(sum(int(count[i]) for count in counts)) for i in (0, 1)]
            found.add((*facts, "all", *total, *rate))
    return found


def printed_four_rules():
    """Return the rows of policies.csv that the table of four rules contains."""
    found = set()
    for title, cells in tables("policies"):
        if title == "Four rules in one policy" and cells[0].startswith("rule_"):
            counts = [cell.split("/") for cell in cells[2:] if "/" in cell]
            names = [(policy, memory) for policy in ("RDT", "pi0") for memory in ("none", "vq")]
            for (policy, memory), (opened, episodes) in zip(names, counts, strict=True):
                tokens = ("4", "40") if memory == "vq" else ("", "")
                facts = (f"{policy} tiny, four rules", memory, *tokens, cells[0], "train", "0")
                found.add((*facts, opened, episodes, "", "", ""))
    return found


def test_the_counts_of_policies_are_those_of_the_page():
    ours = [tuple(row.values())[1:] for row in rows("policies.csv") if row["source"] == "ours"]
    assert not [row for row, number in Counter(ours).items() if number > 1]
    assert set(ours) == printed_policies() | printed_four_rules()
    assert len(ours) > 60


def test_pooled_counts_are_sums_and_rates_are_theirs():
    ours = [row for row in rows("policies.csv") if row["source"] == "ours"]
    for row in ours:
        if row["rate"]:
            share = 100 * int(row["opened"]) / int(row["episodes"])
            assert float(row["low"]) <= share <= float(row["high"])
            assert round(share) == int(row["rate"])


def test_the_paper_s_rates_on_the_page_are_those_of_the_file():
    paper = {
        (row["policy"], row["memory"], row["rule"]): row["rate"]
        for row in rows("policies.csv")
        if row["source"] == "paper" and row["J"] in ("", "4") and row["M"] in ("", "40")
    }
    found = 0
    for title, cells in tables("policies"):
        if title == "Other models" and cells[0] in ("RDT tiny", "CogACT tiny", "pi0 tiny"):
            name = cells[0].removesuffix(" tiny")
            rates = [paper[name, memory, "rule_020"] for memory in ("vq", "none")]
            assert cells[3] == f"{rates[0]} % and {rates[1]} %"
            opened = {row[:2]: row[7] for row in printed_policies() if row[0] == cells[0]}
            assert cells[1] == f"{opened[cells[0], 'vq']}/50"
            assert cells[2] == f"{opened[cells[0], 'none']}/50"
            found += 1
        elif title == "Four rules in one policy" and cells[0].startswith("rule_"):
            rates = [paper["pi0, 20 rules", memory, cells[0]] for memory in ("none", "vq")]
            assert cells[8] == f"{rates[0]} %, {rates[1]} %"
            found += 1
    assert found == 7


def test_the_paper_s_single_task_rates_are_those_of_the_page():
    head, *body = [cells for title, cells in tables("policies") if title.startswith("The paper's")]
    tokens = {name: (name[2:], "40") for name in head if name.startswith("J=")}
    tokens |= {name: ("4", name[2:]) for name in head if name.startswith("M=")}
    tokens["J=4, M=40"] = ("4", "40")
    printed = set()
    for policy, rule, *rates in body:
        for name, rate in zip(head[2:], rates, strict=True):
            memory = {"no memory": "none", "raw history": "raw"}.get(name, "vq")
            if rate:
                printed.add((policy, memory, *tokens.get(name, ("", "")), rule, rate))
    keys = ("policy", "memory", "J", "M", "rule", "rate")
    paper = [row for row in rows("policies.csv") if row["source"] == "paper"]
    single = {tuple(row[key] for key in keys) for row in paper if row["policy"] != "pi0, 20 rules"}
    assert single == printed


def test_the_probe_s_figures_are_those_of_the_page():
    printed = set()
    for title, (name, *cells) in tables("memory"):
        if title.startswith("Table: rule_") and name != "input":
            numbers = [re.fullmatch(r"(\S+) % \((\S+)\.\.(\S+)\)", cell).groups() for cell in cells]
            printed.add(
                (
                    title.removeprefix("Table: "),
                    name,
                    *(number for three in numbers for number in three),
                )
            )
    assert {tuple(row.values()) for row in rows("step_probe.csv")} == printed
    assert len(printed) == 75


@pytest.mark.parametrize("page", ["expert", "sampled", "demonstrations"])
def test_the_expert_s_figures_are_those_of_the_page(page):
    printed = {
        (cells[0], *cells[1].split("/"), cells[4])
        for title, cells in tables(page)
        if title != "Table by safe" and "/" in cells[1]
    }
    ours = {tuple(row.values())[1:] for row in rows("expert.csv") if row["page"] == page}
    if page == "sampled":  # the file has the sum only
        printed = {row for row in printed if row[0] == "all"}
    assert ours == printed


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
