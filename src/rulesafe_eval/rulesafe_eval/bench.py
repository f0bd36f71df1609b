"""`rulesafe bench`: what this machine does per second, in process and through ROS 2.

Each part runs in fresh processes, so that its memory and its first picture are its own. CPU
seconds count all threads of such a process, the software renderer's too. docs/benchmarks.md says
how to read the tables.
"""

import json
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path

from policy_node.families import FAMILIES
from rulesafe_eval.arguments import call
from rulesafe_eval.bench_report import machine, markdown, table
from rulesafe_eval.bench_tools import Measure
from rulesafe_sim.errors import RuleSafeError, unknown_name

PARTS = {
    "physics": "bench_simulation:physics",
    "loop": "bench_simulation:loop",
    "observation": "bench_simulation:observation",
    "first_frame": "bench_simulation:first_frame",
    "planning": "bench_planning:measured",
    "memory": "bench_memory:measured",
    "policy": "bench_policy:measured",
    "ros": "bench_node:through_ros",
    "bridge": "bench_bridge:measured",
}
"""Where each part's function is, which takes the options and gives its figures."""


@dataclass(frozen=True)
class Options:
    """Measures physics, observations, policies and the ROS graph on this machine.

    Example: rulesafe bench --parts physics planning
    """

    parts: tuple[str, ...] = tuple(PARTS)
    """Which parts to run."""
    rule: str = "rule_001"
    safe: str = "safe_01"
    model: str = "rule_001_rule_020"
    """Of the part memory: its name, or its folder."""
    policies: tuple[str, ...] = tuple(FAMILIES)
    """Of the part policy: which families."""
    data: Path | None = None
    """Of the part policy: demonstrations with clouds and pictures, for the speed of training."""
    cache: Path | None = None
    """Of the part policy: folder for clouds and pictures decoded once; otherwise a temporary one,
    which for 200 demonstrations takes minutes and gigabytes."""
    seconds: float = 10.0
    """Simulated seconds of each loop in process; wall seconds of each run through ROS."""
    json: Path | None = None
    """Write the figures here too."""
    markdown: Path | None = None
    """Write the tables here too, as Markdown."""


def main(argv: list[str] | None = None) -> int:
    """Runs the benchmark with command-line arguments; the exit code, 1 if a part failed."""
    options = call(Options, "rulesafe bench", argv)
    for part in options.parts:
        if part not in PARTS:
            raise unknown_name("part", part, PARTS)
    facts = machine()
    print("\n".join(f"{name}: {value}" for name, value in facts.items()), flush=True)
    measures: list[Measure] = []
    failed: dict[str, str] = {}
    page = ["; ".join(f"{name} {value}" for name, value in facts.items()) + "."]
    for part in options.parts:
        try:
            found = _function(PARTS[part])(options)
        except RuleSafeError as error:
            failed[part] = str(error)
            print(f"\n{part}: not measured: {error}", file=sys.stderr)
            continue
        measures += found
        page += [f"## {part}", markdown(found)]
        print(f"\n{table(found)}", flush=True)
    if options.json:
        figures = [asdict(measure) for measure in measures]
        content = {"machine": facts, "measures": figures, "failed": failed}
        options.json.write_text(json.dumps(content, indent=1) + "\n")
    if options.markdown:
        options.markdown.write_text("\n\n".join(page) + "\n")
    return 1 if failed else 0


def _function(place: str) -> Callable[[Options], list[Measure]]:
    """A part's function; its module is imported only now, for some need much."""
    module, name = place.split(":")
    found: Callable[[Options], list[Measure]]
    found = getattr(import_module(f"rulesafe_eval.{module}"), name)
    return found


if __name__ == "__main__":
    sys.exit(main())
