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
from itertools import product
from pathlib import Path

import numpy as np
import tyro
from scipy.stats import binomtest
from tqdm import tqdm

from planner_node.episode import run_expert
from rulesafe_sim.safes import SAFES
from rulesafe_sim.simulation import Simulation


@dataclass(frozen=True)
class Count:
    """What to run: rules x safes x seeds."""

    rules: tuple[str, ...] = ("rule_001", "rule_002", "rule_003")
    safes: tuple[str, ...] = SAFES
    seeds: str = "1000:1010"  # first:end
    workers: int = 1
    out: Path = Path("runs/expert_success.jsonl")


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
    count.out.parent.mkdir(parents=True, exist_ok=True)
    lines = count.out.read_text().splitlines() if count.out.exists() else []
    rows = [json.loads(line) for line in lines]
    done = {(row["rule"], row["safe"], row["seed"]) for row in rows}
    jobs = [j for j in product(count.rules, count.safes, range(first, end)) if j not in done]
    with ProcessPoolExecutor(count.workers) as pool, count.out.open("a") as file:
        futures = [pool.submit(episode, *job) for job in jobs]
        bar = tqdm(as_completed(futures), total=len(jobs), unit="episode")
        for future in bar:
            row = future.result()
            rows.append(row)
            file.write(json.dumps(row) + "\n")
            file.flush()
            bar.set_postfix(opened=f"{sum(r['success'] for r in rows)}/{len(rows)}")
    print(f"{platform.machine()}, Python {platform.python_version()}, seeds {count.seeds}")
    print(table(rows))
    for (safe, failure), number in sorted(
        Counter((r["safe"], r["failure"]) for r in rows if not r["success"]).items()
    ):
        print(f"- {safe}, {number} x: {failure}")


if __name__ == "__main__":
    main(tyro.cli(Count, description=__doc__))
