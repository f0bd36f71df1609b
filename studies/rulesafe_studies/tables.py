"""The tables of policies and memories whose data are stored evaluations: one function each.

A function yields the rows below the head of its table (pages.py).
"""

import json
import math
import re
from bisect import bisect
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from rulesafe_eval.comparison import row_of
from rulesafe_eval.diagnosis import CAUSES
from rulesafe_eval.statistics import (
    FEWEST,
    bootstrap,
    cluster_sums,
    mean,
    percent,
    sign_flips,
)
from rulesafe_eval.table import Pooled
from rulesafe_locks.proofs import prove
from rulesafe_locks.rules import RULES, load_rule
from rulesafe_sim.safes import SAFES, load_safe
from rulesafe_studies.data import DATA, pooled, stored
from rulesafe_studies.differences import difference, holm, points
from rulesafe_studies.disturbances import recovery

Cells = tuple[str, ...]

CONTROLS, KEYFRAMES = "rulesafe_studies.controls", "rulesafe_studies.keyframes"
ALL, HAND = "13 joints", "6 joints of the hand"


class MemoryRow(NamedTuple):
    """A memory of the study `memories`: title, input, `kind` and settings of `make_memory`, and the
    size of the policy."""

    title: str
    observed: str = HAND
    kind: str = "vq"
    settings: Mapping[str, Any] = {}
    size: str = "tiny"


MEMORIES = {
    "none": MemoryRow("none", "", "none"),
    "scenes": MemoryRow("earlier scenes, 2.4 to 48 s", "scene features", "none", size="scenes"),
    "sparse_scenes": MemoryRow(
        "earlier scenes, 4.8 to 96 s", "scene features", "none", size="sparse_scenes"
    ),
    "time": MemoryRow("elapsed time", "", f"{CONTROLS}:ElapsedTime"),
    "counter": MemoryRow("number of grasps", "index finger", f"{CONTROLS}:StepCounter"),
    "grasp": MemoryRow("grasp bit (40 bits)", "index finger", f"{CONTROLS}:GraspBit"),
    "releases": MemoryRow("joints at the releases of a grasp", ALL, f"{KEYFRAMES}:GraspKeyframes"),
    "joints": MemoryRow(
        "joints in two bits (80 bits)", "index finger, elbow", f"{CONTROLS}:QuantisedJoints"
    ),
    "random": MemoryRow("VQ, codes merged at random (80 bits)", kind=f"{CONTROLS}:RandomClusters"),
    "fsq": MemoryRow("FSQ, J=4 (80 bits)"),  # its tokens have the shape of those of VQ
    "vq_all_joints": MemoryRow(
        "VQ of all joints, J=4 (80 bits)", ALL, settings={"model": "all_rules"}
    ),
    "vq_J2": MemoryRow("VQ, J=2 (40 bits)", settings={"clusters": 2}),
    "vq_M20": MemoryRow("VQ, J=4, M=20 (40 bits)", settings={"length": 20}),
    "vq": MemoryRow("VQ, J=4 (80 bits)"),
    "vq_M60": MemoryRow("VQ, J=4, M=60 (120 bits)", settings={"length": 60}),
    "vq_J32": MemoryRow("VQ, J=32 (200 bits)", settings={"clusters": 32}),
    "vq_J256": MemoryRow("VQ, J=256 (320 bits)", settings={"clusters": 256}),
    "raw": MemoryRow("raw history, convolutions", ALL, "raw"),
    "raw_robot_frame": MemoryRow(
        "raw history, not relative to the safe", ALL, f"{CONTROLS}:RobotFrameJoints"
    ),
    "gru": MemoryRow("raw history, GRU", ALL, "raw", size="gru"),
    "transformer": MemoryRow("raw history, causal transformer", ALL, "raw", size="transformer"),
    "actions": MemoryRow("past actions, convolutions", "13 actions", f"{CONTROLS}:PastActions"),
    "token_changes": MemoryRow(
        "joints at the changes of a token", ALL, f"{KEYFRAMES}:TokenKeyframes"
    ),
    "release_tokens": MemoryRow(
        "tokens at the releases of a grasp", ALL, f"{KEYFRAMES}:GraspTokens"
    ),
    "oracle": MemoryRow(
        "phases of the parts (privileged)", "phases (privileged)", f"{KEYFRAMES}:OraclePhases"
    ),
}
"""Memories of the study `memories`, from little to much information."""


def compared(first: Pooled, second: Pooled) -> dict[str, Any]:
    """Return the statistics of the pairs of each episode of `second` and that of `first` with the
    same training seed."""
    if missing := second.lines.keys() - first.lines.keys():
        raise ValueError(f"no pair for {len(missing)} episodes, such as {min(missing)}")
    return row_of("all", [(first.lines[key], second.lines[key]) for key in second.lines])


def figures(found: Pooled) -> Cells:
    """Return count, success rate and process score of some episodes, without an interval if all
    poses have the same rate."""
    opened, scores = found.values("opened"), found.values("process_score")
    ends = [found.interval(key) for key in ("opened", "process_score")]
    success, score = (None if each and each[0] == each[1] else each for each in ends)
    counts = f"{opened.sum():.0f}/{len(opened)}"
    return counts, percent(opened.mean(), success), mean(scores.mean(), score)


def success_difference(row: Mapping[str, Any]) -> str:
    """Return the difference of the success rates of a comparison in percentage points."""
    return points(*(100 * end for end in (row["success_difference"], *row["success_interval"])))


def differences(rows: Sequence[Mapping[str, Any] | None]) -> list[Cells]:
    """Return difference, p, and p corrected by Holm's method of each comparison; None: no cells.

    A comparison at fewer than FEWEST poses has a count only, without interval and test."""
    tested = [row for row in rows if row and row["places"] >= FEWEST]
    corrected = iter(holm([row["success_p"] for row in tested]))
    cells: list[Cells] = []
    for row in rows:
        if not row:
            cells.append(("", "", ""))
        elif row["places"] < FEWEST:
            more = row["only_second"] - row["only_first"]
            cells.append((f"{more:+d} of {row['pairs']}", "", ""))
        else:
            cells.append(
                (success_difference(row), f"{row['success_p']:.2g}", f"{next(corrected):.2g}")
            )
    return cells


def against(first: str, found: Mapping[str, Pooled]) -> Iterator[tuple[str, Pooled, Cells]]:
    """Yield name, episodes, and difference to those of `first` with its p, for each row."""
    rows = [compared(found[first], each) if name != first else None for name, each in found.items()]
    for (name, each), more in zip(found.items(), differences(rows), strict=True):
        yield name, each, more


TWENTY = {
    "VQ of the hand, J=4": ("vq", "twenty_rules"),
    "raw history": ("raw", "twenty_rules"),
    "no memory": ("none", "twenty_rules"),
    "VQ of the hand, J=4, camera images": ("vq", "images"),
    "raw history, camera images": ("raw", "images"),
    "no memory, camera images": ("none", "images"),
}
"""Policies of the first table: title, name and folder of their results."""
SKILLS = "skills with the true next subtask (privileged)"
MEMORYLESS = "memoryless oracle (privileged)"
PAPER: tuple[Cells, ...] = (
    ("the paper's pi0 with tokens", "", "", "56.3 %", "0.765", ""),
    ("the paper's pi0 without memory", "", "", "25.0 %", "0.488", ""),
)


def twenty_rules() -> Iterator[Cells]:
    """Yield policy, number of trainings, figures, and the rule with the lowest rate."""
    entries = {title: stored(name, [folder]) for title, (name, folder) in TWENTY.items()}
    yield from _under_all_rules(entries)
    for title, name in {SKILLS: "skills", MEMORYLESS: "memoryless"}.items():
        for row in _under_all_rules({title: stored(name)}):
            yield row[0], "", *row[2:]
    yield from PAPER


def network() -> Iterator[Cells]:
    """Yield memory of the network, number of trainings, figures, and the rule with the lowest
    rate."""
    yield from _under_all_rules(_networks())
    yield from PAPER


def _networks() -> dict[str, list[Path]]:
    rows = {name: row.title for name, row in MEMORIES.items()}
    images = {f"{name}_images": f"{title}, camera images" for name, title in rows.items()}
    return {title: stored(name, ["network"]) for name, title in (rows | images).items()}


def _under_all_rules(entries: Mapping[str, Sequence[Path]]) -> Iterator[Cells]:
    for title, paths in entries.items():
        if not paths:
            continue
        found = pooled(paths)
        opened = Counter(line["rule"] for line in found.lines.values() if line["opened"])
        lowest, episodes = min(opened[rule] for rule in RULES), len(found.lines) // len(RULES)
        worst = [rule for rule in RULES if opened[rule] == lowest]
        name = worst[0] if len(worst) == 1 else f"{len(worst)} rules"
        yield title, str(len(paths)), *figures(found), f"{name}, {lowest}/{episodes}"


PROOFS = {rule: prove(load_rule(rule)) for rule in RULES}
SHOWN = {safe: load_safe(safe).phase_visible for safe in SAFES}
"""Whether images of a safe show the phases of its knob and handle."""


def required_bits(line: Mapping[str, Any]) -> float:
    """Return the memory that the shortest plan of an episode's rule requires, in bits: besides the
    phases of knob and handle if the safe shows them, otherwise without any observation."""
    proof = PROOFS[line["rule"]]
    return proof.bits if SHOWN[line["safe"]] else proof.bits_blind


BITS = (0.0, 1.0, 2.0, 2.5)
"""Least required bits of the groups of episodes in table and figure of memories."""

LAST = "6 to 8 steps, phases hidden"
"""The episodes of the last group, whose bits are the logarithm of the number of steps."""


def by_bits(found: Pooled) -> list[Pooled]:
    """Return the episodes of each group of BITS."""
    groups = {k: bisect(BITS, required_bits(line)) - 1 for k, line in found.lines.items()}
    return [
        replace(found, lines={k: found.lines[k] for k, group in groups.items() if group == i})
        for i in range(len(BITS))
    ]


def by_rule() -> Iterator[Cells]:
    """Yield rule, bits, whether a memoryless policy can open it, and counts of the memoryless
    oracle and by memory."""
    names = ("memoryless", "vq", "raw", "none")
    found = [pooled(stored(name)).lines.values() for name in names]
    for rule, proof in PROOFS.items():
        opened = [[line["opened"] for line in lines if line["rule"] == rule] for lines in found]
        counts = [f"{sum(count)}/{len(count)}" for count in opened]
        yield rule, f"{proof.bits:.3g}", "yes" if proof.memoryless else "no", *counts


def causes() -> Iterator[Cells]:
    """Yield policy and the number of failures, in total and by cause."""
    yield from _causes({title: stored(name, [f]) for title, (name, f) in TWENTY.items()})


def network_causes() -> Iterator[Cells]:
    """Yield memory of the network and the number of failures, in total and by cause."""
    yield from _causes(_networks())


def _causes(entries: Mapping[str, Sequence[Path]]) -> Iterator[Cells]:
    for title, paths in entries.items():
        if not paths:
            continue
        lines = pooled(paths).lines.values()
        failures = Counter(line["cause"] for line in lines if not line["opened"])
        counts = [failures[cause] for cause in CAUSES if cause != "out_of_reach"]
        yield re.sub(r" \(.*?\)", "", title), *map(str, (failures.total(), *counts))


def memories(
    folders: Sequence[str] = ("twenty_rules", "memories"), first: str = "vq"
) -> Iterator[Cells]:
    """Yield memory, number opened in each training, success, count in each group of BITS,
    difference to the memory `first`, its p, and p corrected for the rows with several trainings."""
    found = {name: pooled(paths) for name in MEMORIES if (paths := stored(name, folders))}
    rows = {name: difference(found[first], each) for name, each in found.items() if name != first}
    several = [name for name in rows if len(found[name].seconds) > 1]
    corrected = dict(zip(several, holm([rows[name].p for name in several]), strict=True))
    for name, each in found.items():
        opened = ", ".join(str(each.opened(seed)[0]) for seed in sorted(each.seconds))
        counts = [figures(group)[0] for group in by_bits(each)]
        row = rows.get(name)
        p = (row.text, f"{row.p:.2g}") if row else ("", "")
        corrected_p = f"{corrected[name]:.2g}" if name in corrected else ""
        yield MEMORIES[name].title, opened, figures(each)[1], *counts, *p, corrected_p


def sizes() -> Iterator[Cells]:
    """Yield memory, its input, values and bits, the parameters of the upper level, the median time
    of an inference, ms, and the demonstrations of each training: the start of their digest."""
    import torch

    from policy_node.families import find_config, make_network
    from vq_memory_node.memory import make_memory

    latency = {
        (path.stem, re.sub(r"[\w.]+:", "", measure["subject"])): f"{measure['median']:.1f}"
        for path in (DATA / "latency").glob("*.json")
        for measure in json.loads(path.read_text("utf-8"))["measures"]
        if measure["name"] == "chunk"
    }
    for name, (title, observed, kind, settings, size) in MEMORIES.items():
        if not (paths := stored(name)):
            continue
        actors = [json.loads(path.read_text("utf-8"))["request"]["actor"] for path in paths]
        digests = ", ".join(actor["data"]["digest"][:4] for actor in actors)
        shape = make_memory(kind, **settings).shape
        with torch.device("meta"):
            network = make_network("two_level", find_config("two_level", size), shape)
        parts = [module for part, module in network.parts().items() if part != "skills"]
        count = sum(value.numel() for part in parts for value in part.parameters())
        values = {
            "none": "",
            "tokens": f"{shape.length} of {shape.vocabulary}",
            "raw": f"{shape.length} x 13",
        }[shape.kind]
        bits = f"{shape.length * math.log2(shape.vocabulary):.0f}" if shape.vocabulary else ""
        parameters = f"{round(count, -3):,}".replace(",", " ")
        measured = title == "VQ, J=4 (80 bits)" or kind != "vq"  # of VQ only the default
        inference = (
            latency.get((size, f"two_level {kind.rpartition(':')[2]}"), "") if measured else ""
        )
        yield title, observed, values, bits, parameters, inference, digests


CONDITIONS = {
    "shifted": "`--split shifted`",
    "turn-back": "`--turn-back`",
    "interference": "`--interference`",
    "another": "`--memory-control another`",
    "shuffled": "`--memory-control shuffled`",
    "truncated": "`--memory-control truncated`",
    "delayed": "`--memory-control delayed`",
    "perturbed": "`--memory-control perturbed`",
}
"""Conditions of `robustness` and `network_conditions`. All but the split have the same episodes as
the evaluation without disturbance, with which they are compared."""


def conditions(undisturbed: str, disturbed: str) -> Iterator[Cells]:
    """Yield condition, figures, difference to the undisturbed episodes and its p, for a stored
    evaluation and those whose names are completed by a condition."""
    own = pooled([DATA / f"{undisturbed}.json"])
    paths = {name: DATA / f"{disturbed}_{name}.json" for name in CONDITIONS}
    found = {name: pooled([path]) for name, path in paths.items() if path.exists()}
    rows = [compared(own, each) if name != "shifted" else None for name, each in found.items()]
    for (name, each), more in zip(found.items(), differences(rows), strict=True):
        yield CONDITIONS[name], *figures(each), *more


def turned_back(name: str) -> Iterator[Cells]:
    """Yield whether the safes show the phases of knob and handle, the number of episodes on them in
    which a part was turned back, and how many of these were opened, of a stored evaluation."""
    lines = pooled([DATA / name]).lines.values()
    for text, visible in (("visible", True), ("hidden", False)):
        found = recovery([line for line in lines if SHOWN[line["safe"]] is visible])
        assert found is not None
        share = percent(found["opened"] / found["episodes"], found["interval"])
        yield text, str(found["episodes"]), str(found["opened"]), share


COMPARED = {"vq": "VQ, J=4", "raw": "raw history"}
"""Memories out of distribution."""


def shifted() -> Iterator[Cells]:
    """Yield memory, figures on the split `shifted`, difference to VQ, J=4 and its p, for the first
    trainings."""
    found = {name: pooled([DATA / f"robustness/{name}_0_shifted.json"]) for name in COMPARED}
    for name, each, more in against("vq", found):
        yield COMPARED[name], *figures(each), *more[:2]


def lengths() -> Iterator[Cells]:
    """Yield memory length, figures, difference to M=40 and its p."""
    found = {m: pooled(stored(f"vq_M{m}", ["lengths"])) for m in (20, 40, 60)}
    for m, each in found.items():
        row = compared(found[40], each)
        more = ("", "") if m == 40 else (success_difference(row), f"{row['success_p']:.2g}")
        yield f"M={m} ({2 * m} s)", *figures(each), *more


GENERATED = {
    "vq_0_unseen": ("the twenty rules", "sampled_test"),
    "generated_0_unseen": ("the 117 of sampled_train", "sampled_test"),
    "generated_0_trained": ("the 117 of sampled_train", "sampled_train"),
}
"""Evaluations under generated locks: locks of the training and of the evaluation."""


def generated() -> Iterator[Cells]:
    """Yield locks of training and evaluation, figures with intervals over the locks, and the
    difference to the first row."""
    first = None
    for name, titles in GENERATED.items():
        found = pooled([DATA / f"robustness/{name}.json"])
        locks, more = [key[1] for key in found.lines], ""
        opened, scores = found.values("opened"), found.values("process_score")
        if first and first.lines.keys() == found.lines.keys():
            gain = opened - first.values("opened")
            shown = points(*(100 * end for end in (gain.mean(), *bootstrap(gain, locks))))
            more = f"{shown}, p = {sign_flips(cluster_sums(gain, locks)[0]):.2g}"
        first = first or found
        yield (
            *titles,
            f"{opened.sum():.0f}/{len(opened)}",
            percent(opened.mean(), bootstrap(opened, locks)),
            mean(scores.mean(), bootstrap(scores, locks)),
            more,
        )


DATA_OF_ADDITIONS = {"rule_001": "safe_02", "ten_safes": "ten safes"}
ADDITIONS = {
    "nothing": "DP3-SF",
    "safe_frame": "without the safe's frame",
    "augmentation": "without augmentation",
    "network": "published network",
    "all": "published network, absolute actions, no augmentation",
}
"""Variants of the study `additions`."""


def additions() -> Iterator[Cells]:
    """Yield safes, variant, figures, difference to DP3-SF and its p."""
    entries: list[tuple[str, str, Pooled]] = []
    rows: list[dict[str, Any] | None] = []
    for data, safes in DATA_OF_ADDITIONS.items():
        paths = {name: DATA / f"additions/{data}_{name}.json" for name in ADDITIONS}
        found = {name: pooled([path]) for name, path in paths.items() if path.exists()}
        for name, each in found.items():
            entries.append((safes, ADDITIONS[name], each))
            rows.append(compared(found["nothing"], each) if name != "nothing" else None)
    for (safes, title, each), more in zip(entries, differences(rows), strict=True):
        yield safes, title, *figures(each), *more


IN_README = {
    "VQ-Memory (J=4), all joints (the paper's input)": "vq_all_joints",
    "raw joint-position history": "raw",
    "elapsed time": "time",
    "none": "none",
}


def readme() -> Iterator[Cells]:
    """Yield memory of the network, success, and the counts of all episodes and of those with the
    longest plans, for the first training, whose episodes are the same with each memory."""
    for title, name in IN_README.items():
        found = pooled(stored(name, ["network"])[:1])
        opened, success, _ = figures(found)
        yield title, success, opened, figures(by_bits(found)[-1])[0]
