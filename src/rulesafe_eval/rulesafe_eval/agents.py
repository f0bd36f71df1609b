"""Agents of an evaluation by name: the oracles, checkpoints, and those of other packages."""

from pathlib import Path
from typing import Any

from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_core.plugins import import_object, is_reference, load, names
from rulesafe_data.files import read_json, sha256
from rulesafe_eval.oracles import ORACLES
from rulesafe_eval.request import Setup
from rulesafe_sim.runtime import Agent

GROUP = "rulesafe.agents"
"""Entry points of installed packages: subclasses of `rulesafe_sim.runtime.Agent`."""


def load_agent(setup: Setup) -> tuple[Agent, dict[str, Any]]:
    """Return the agent that is named, and what results keep of it, as JSON.

    An oracle, an entry point of the group "rulesafe.agents" or `module:Class` of a subclass of
    Agent acts with all that the simulation knows. Everything else is a policy.

    Raises:
        RuleSafeError: it is unknown or cannot be used.
    """
    from rulesafe_eval.policies import CONTROLS

    name = setup.policy
    if setup.control not in CONTROLS:
        raise unknown_name("memory control", setup.control, CONTROLS)
    agent = _privileged(name)
    if agent is None:
        return _policy(setup)
    if setup.control != "none":
        raise RuleSafeError(f"{name} has no memory that could be {setup.control}")
    if name in ORACLES:
        return agent, {"kind": name, "privileged": True}
    return agent, {"kind": "agent", "name": name, "privileged": True}


def _privileged(name: str) -> Agent | None:
    """The agent of that name, None where it is a policy."""
    if name in ORACLES:
        return ORACLES[name]
    installed = name in names(GROUP, {})
    if not installed and not is_reference(name):
        return None
    found: object = load(GROUP, name, {}) if installed else import_object(name)
    if isinstance(found, type) and issubclass(found, Agent):
        return found()
    if installed:
        raise RuleSafeError(
            f"agent {name!r} is {found!r}; valid: a subclass of {Agent.__module__}.Agent"
        )
    return None


def _policy(setup: Setup) -> tuple[Agent, dict[str, Any]]:

    from policy_node.loading import find_policy, memory_of_policy
    from rulesafe_eval.policies import CONTROLS, PolicyAgent

    facts = facts_of(setup.policy)
    policy = find_policy(setup.policy)
    memory = memory_of_policy(policy)
    if setup.control != "none" and not policy.needs.memory:
        raise RuleSafeError(f"{setup.policy} has no memory that could be {setup.control}")
    controlled = CONTROLS[setup.control](policy)
    return PolicyAgent(controlled, memory, setup.execute, setup.execution), facts


def facts_of(name: str) -> dict[str, Any]:
    """What results keep of a policy: of a checkpoint what its policy.json says, of the training its
    seed, steps and duration, and the SHA-256 of its files."""
    if is_reference(name):
        return {"kind": "class", "name": name}
    from policy_node.checkpoints import find, shipped

    try:
        folder = Path(find(name))
    except RuleSafeError:
        valid = (*names(GROUP, ORACLES), *shipped(), "a checkpoint's folder", "module:Class")
        raise unknown_name("policy", name, valid) from None
    about = read_json(folder / "policy.json", "a policy")
    kept = ("family", "size", "memory", "data", "revision")
    trained = about.get("training") or {}
    config = trained.get("facts", {}).get("config", {})
    training = {key: config[key] for key in ("seed", "steps") if key in config}
    training |= {k: v for k, v in trained.get("results", {}).items() if k == "seconds"}
    hashes = {path.name: sha256(path) for path in sorted(folder.glob("policy.*"))}
    told = {key: about.get(key) for key in kept}
    return {"kind": "checkpoint", **told, "training": training, "files": hashes}
