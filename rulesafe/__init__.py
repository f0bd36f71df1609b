"""The public Python interface of RuleSafe.

>>> import rulesafe
>>> env = rulesafe.make_env("rule_001", "safe_02", observations=("joint_positions",))
>>> observation, info = env.reset(seed=0)
>>> env.unwrapped.instruction.split(".")[0]
'Open the knob and the handle, in any order'
>>> observation["joint_positions"].shape
(13,)
>>> env.close()

`import rulesafe` registers `RuleSafe-v1` with Gymnasium: `gymnasium.make("rulesafe:RuleSafe-v1")`
is the same environment. Everything else is imported when it is used; `load_policy` requires the
extra "learn".

A policy is an object with the methods of `Policy`::

    class MyPolicy:
        needs = rulesafe.Needs(points=1024, instruction=True)
        memory = rulesafe.make_memory("vq")    # if needs.memory: docs/memory.md

        def reset(self): ...

        def infer(self, observation: rulesafe.Observation):
            return chunk                # (n, 13), rad, n from 1 to 50

    if __name__ == "__main__":          # worker processes import the class again
        results = rulesafe.evaluate("my_module:MyPolicy", "runs/mine", benchmark="multi_task")
        print(results["summary"][0]["success_rate"])
"""

import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gymnasium

if TYPE_CHECKING:
    from planner_node.episode import run_expert
    from policy_node.network_policy import load_policy
    from policy_node.policy import Needs, Observation, Policy
    from rulesafe_data.states import load_states
    from rulesafe_sim.simulation import Simulation
    from vq_memory_node.memory import make_memory

__all__ = [
    "Needs",
    "Observation",
    "Policy",
    "Simulation",
    "evaluate",
    "load_policy",
    "load_states",
    "make_env",
    "make_memory",
    "run_expert",
]

_MODULES = {
    "Needs": "policy_node.policy",
    "Observation": "policy_node.policy",
    "Policy": "policy_node.policy",
    "Simulation": "rulesafe_sim.simulation",
    "load_policy": "policy_node.network_policy",
    "load_states": "rulesafe_data.states",
    "make_memory": "vq_memory_node.memory",
    "run_expert": "planner_node.episode",
}

ENVIRONMENT = "RuleSafe-v1"
if ENVIRONMENT not in gymnasium.registry:
    gymnasium.register(ENVIRONMENT, entry_point="rulesafe_sim.env:RuleSafeEnv")


def make_env(rule: str = "rule_001", safe: str = "safe_01", **options: Any) -> gymnasium.Env:
    """Return the Gymnasium environment of a rule and a safe.

    Args:
        rule: id of a rule, or path of a lock's `.json` file.
        safe: id of a safe, or path of its `.yaml` file.
        options: arguments of `rulesafe_sim.env.RuleSafeEnv`, such as `observations`.

    Raises:
        RuleSafeError: an argument is not valid.
    """
    return gymnasium.make(ENVIRONMENT, rule=rule, safe=safe, **options)


def evaluate(
    policy: str | Path,
    out: Path | str,
    workers: int = 1,
    films: int = 0,
    engine: str = "local",
    **options: Any,
) -> dict[str, Any]:
    """Evaluate a policy as `rulesafe eval` does, resuming in the folder `out`.

    The summary is printed. A script calls it under `if __name__ == "__main__":`, since the
    processes of the evaluation import the script again.

    Args:
        policy: name or folder of a checkpoint, `expert`, or `module:Class`.
        out: folder of results.json, submission.json and the report.
        workers: number of processes, which import the policy again.
        films: as for `rulesafe eval`.
        engine: `local` or `ray`.
        options: `execute` and `execution` as for `rulesafe eval`, and fields of
            `rulesafe_eval.conditions.Conditions`, such as `rules`, `episodes` or `benchmark`; rules
            and safes are strings separated by commas, or lists.

    Returns:
        The content of results.json: docs/evaluation.md.

    Raises:
        RuleSafeError: an option is not valid, the policy cannot be used, or it fails.
    """
    from dataclasses import fields
    from multiprocessing import current_process

    from policy_node.configs import from_json
    from rulesafe_core.errors import RuleSafeError, unknown_name
    from rulesafe_eval.conclusion import conclude
    from rulesafe_eval.conditions import Conditions
    from rulesafe_eval.request import Setup
    from rulesafe_eval.results import evaluate_policy

    if getattr(current_process(), "_inheriting", False):  # set while it imports the main module
        raise RuleSafeError(
            "a process of the evaluation imports this script again, and calls rulesafe.evaluate: "
            'put the call under `if __name__ == "__main__":`'
        )
    if not isinstance(policy, str | Path):
        raise RuleSafeError(
            f"policy is {policy!r:.60}; valid: its name, such as 'my_module:MyPolicy', by which "
            "the processes of the evaluation import it"
        )
    if getattr(sys.modules["__main__"], "__file__", "") == "<stdin>":
        raise RuleSafeError(
            "the processes of the evaluation import the script again, and it is on the standard "
            "input: save it in a file"
        )
    setup: dict[str, Any] = {
        name: options.pop(name) for name in ("execute", "execution") if name in options
    }
    valid = [field.name for field in fields(Conditions)]
    for name in options:
        if name not in valid:
            raise unknown_name("option", name, ("films", "engine", "execute", "execution", *valid))
    for name in {"rules", "safes"} & options.keys():
        if isinstance(options[name], list | tuple):
            options[name] = ",".join(map(str, options[name]))
    asked = from_json(Setup, setup | {"policy": str(policy)})
    conditions = from_json(Conditions, options)
    content = evaluate_policy(asked, conditions, Path(out), workers, engine)
    conclude(Path(out), content, films, workers, engine)
    return content


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'rulesafe' has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_MODULES])
