"""Counts how often the expert opens the safes by contact, in process and without pictures.

    python scripts/expert_success.py --rules rule_001 rule_002 --safes safe_02 --seeds 100:110

Every episode is a line of the JSONL file that --out names; episodes already in it are not run
again, so an interrupted count goes on where it stopped. The table at the end has Wilson intervals
at 95 %.
"""

import json
import platform
from collections import Counter, defaultdict
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from importlib.metadata import version
from itertools import product
from pathlib import Path

import numpy as np
import tyro
from scipy.stats import binomtest
from tqdm import tqdm

from planner_node.episode import run_expert
from rulesafe_sim.config import PlacementRange
from rulesafe_sim.safes import SAFES
from rulesafe_sim.simulation import Simulation


@dataclass(frozen=True)
class Count:
    """What to run: rules x safes x seeds."""

    rules: tuple[str, ...] = ("rule_001", "rule_002", "rule_003")
    safes: tuple[str, ...] = SAFES
    seeds: str = "3000:3010"  # first:end
    workers: int = 1
    out: Path = Path("runs/expert_success.jsonl")
    report: Path | None = None  # a Markdown file to write the table to


def episode(rule: str, safe: str, seed: int) -> dict:
    simulation = Simulation()
    simulation.reset(rule, safe, seed)
    result = asdict(run_expert(simulation))
    return {"rule": rule, "safe": safe, "seed": seed, **result}


def table(rows: Iterable[dict]) -> str:
    """Markdown: successes by safe and rule, the rate with its interval, what failed."""
    by_safe: dict[str, list[dict]] = defaultdict(list)
    for row in rows:
        by_safe[row["safe"]].append(row)
    rules = sorted({row["rule"] for group in by_safe.values() for row in group})
    lines = [
        f"| safe | {' | '.join(rules)} | all | 95 % interval | frames | retries |",
        f"|---|{'---|' * len(rules)}---|---|---|---|",
    ]
    groups = [*sorted(by_safe.items()), ("all", [r for g in by_safe.values() for r in g])]
    for name, group in groups:
        cells = []
        for rule in rules:
            part = [row for row in group if row["rule"] == rule]
            cells.append(f"{sum(row['success'] for row in part)}/{len(part)}")
        opened, n = sum(row["success"] for row in group), len(group)
        low, high = binomtest(opened, n).proportion_ci(method="wilson")
        frames = np.mean([row["frames"] for row in group if row["success"]] or [np.nan])
        retries = np.mean([row["retries"] for row in group])
        lines.append(
            f"| {name} | {' | '.join(cells)} | {100 * opened / n:.1f} % "
            f"| {100 * low:.0f}..{100 * high:.0f} % | {frames:.0f} | {retries:.2f} |"
        )
    return "\n".join(lines)


def main(count: Count) -> None:
    first, end = map(int, count.seeds.split(":"))
    wanted = list(product(count.rules, count.safes, range(first, end)))
    count.out.parent.mkdir(parents=True, exist_ok=True)
    lines = count.out.read_text().splitlines() if count.out.exists() else []
    done = {(row["rule"], row["safe"], row["seed"]): row for row in map(json.loads, lines)}
    rows = [done[job] for job in wanted if job in done]
    jobs = [job for job in wanted if job not in done]
    with ProcessPoolExecutor(count.workers) as pool, count.out.open("a") as file:
        futures = [pool.submit(episode, *job) for job in jobs]
        bar = tqdm(as_completed(futures), total=len(jobs), unit="episode")
        for future in bar:
            row = future.result()
            rows.append(row)
            file.write(json.dumps(row) + "\n")
            file.flush()
            bar.set_postfix(opened=f"{sum(r['success'] for r in rows)}/{len(rows)}")
    text = report(count, rows)
    print(text)
    if count.report:
        count.report.parent.mkdir(parents=True, exist_ok=True)
        count.report.write_text(text)


def report(count: Count, rows: list[dict]) -> str:
    """The result as a Markdown page, with the command that gave it."""
    failures = Counter((r["rule"], r["safe"], r["failure"]) for r in rows if not r["success"])
    ranges = PlacementRange()
    return "\n".join(
        [
            "# How often the expert opens the safes",
            "",
            f"    python scripts/expert_success.py --rules {' '.join(count.rules)} "
            f"--safes {' '.join(count.safes)} --seeds {count.seeds}",
            "",
            "In process, by contact, without pictures; each seed is another place of the safe, "
            f"uniform within +-{100 * ranges.xyz[0]:g} cm in x, y and z and "
            f"+-{np.degrees(ranges.yaw):.0f} degrees of yaw. Opened of tried, Wilson intervals at "
            "95 %, mean frames (0.1 s) of the opened, mean retries. "
            f"Python {platform.python_version()}, SAPIEN {version('sapien')}.",
            "",
            table(rows),
            "",
            "## Failures" if failures else "No failures.",
            *(["", *_failure_lines(failures)] if failures else []),
            "",
        ]
    )


def _failure_lines(failures: Counter) -> list[str]:
    return [
        f"- {rule} on {safe}, {number} x: {failure}"
        for (rule, safe, failure), number in sorted(failures.items())
    ]


if __name__ == "__main__":
    main(tyro.cli(Count, description=__doc__))
