"""Write the episodes of the benchmarks: src/rulesafe_sim/rulesafe_sim/data/benchmarks/*.json.

It takes about ten minutes on one core, since poses are checked for the arm's reach. Do not change
a published benchmark; give a new one another name.
"""

import json
from typing import Annotated, Any

import tyro

from planner_node.reach import out_of_reach
from rulesafe_core.files import write_atomically
from rulesafe_sim.benchmarks import BENCHMARKS, FOLDER, FORMAT
from rulesafe_sim.config import Placement
from rulesafe_sim.episodes import place, plan_episodes
from rulesafe_sim.variation import Variation

CONDITIONS: dict[str, dict[str, Any]] = {
    "single_task": {
        "title": "rule_001 and rule_020 on ten safes",
        "rules": "rule_001,rule_020",
        "split": "nominal",
        "episodes": 50,
    },
    "multi_task": {
        "title": "twenty rules on ten safes",
        "rules": "all",
        "split": "nominal",
        "episodes": 10,
    },
    "out_of_distribution": {
        "title": "twenty rules; other poses, light, colours, cameras and resistances",
        "rules": "all",
        "split": "shifted",
        "episodes": 10,
    },
    "generated_locks": {
        "title": "27 generated locks that are not used for training, on ten safes",
        "rules": "sampled_test",
        "split": "nominal",
        "episodes": 10,
    },
    "written_locks": {
        "title": "26 locks of a language model that are not used for training, on ten safes",
        "rules": "written_test",
        "split": "nominal",
        "episodes": 10,
    },
}


def without_defaults(value: Any, default: Any) -> Any:
    """Return a nested dict without the values that are equal to those of `default`."""
    if not isinstance(value, dict):
        return value
    return {k: without_defaults(v, default[k]) for k, v in value.items() if v != default[k]}


def make(name: str) -> dict[str, Any]:
    """Return the content of a benchmark's file."""
    settings = dict(CONDITIONS[name])
    title = settings.pop("title")
    plan, entries = plan_episodes(**settings), []
    default = Variation(Placement((0.0, 0.0, 0.0), 0.0)).to_dict()
    for each in plan:
        placed = place(each, out_of_reach)
        complete = placed.fixed().to_dict()
        values = without_defaults(complete, default) | {"placement": complete["placement"]}
        about = {"rule": each.rule, "number": each.number, "safe": each.safe, "seed": each.seed}
        entries.append(about | {"resampled": placed.resampled, "variation": values})
    keys = ("rules", "safes", "split", "episodes", "seed", "step_seconds")
    conditions = {key: getattr(plan, key) for key in keys}
    return {"format": FORMAT, "title": title, **conditions, "entries": entries}


def dump(content: dict[str, Any]) -> str:
    """Return JSON with one episode per line."""
    entries = ",\n  ".join(map(json.dumps, content["entries"]))
    head = json.dumps({key: value for key, value in content.items() if key != "entries"})
    return f'{head[:-1]},\n "entries": [\n  {entries}\n ]}}\n'


def write(names: Annotated[tuple[str, ...], tyro.conf.Positional] = ()) -> None:
    """Write the episodes of benchmarks, about ten minutes.

    Args:
        names: Names of the benchmarks; by default all.
    """
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in names or BENCHMARKS:
        write_atomically(FOLDER / f"{name}.json", dump(make(name)).encode())
        print(FOLDER / f"{name}.json")
