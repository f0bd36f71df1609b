"""Agents of an evaluation by name: oracles, checkpoints, and agents of installed packages."""

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from policy_node.loading import addresses, print_warning, scheme_of
from rulesafe_core.cameras import RENDERERS
from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_core.plugins import Registry, import_object, is_reference
from rulesafe_core.text_files import read_json, sha256
from rulesafe_core.versions import renderer_version
from rulesafe_eval.oracles import ORACLES
from rulesafe_eval.request import Setup
from rulesafe_sim.runtime import Agent

if TYPE_CHECKING:  # loads the memories
    from rulesafe_eval.policies import PolicyAgent

AGENTS: Registry[Any] = Registry("rulesafe.agents", "agent", ORACLES)
"""Agents that act with the complete state: the oracles, and subclasses of
`rulesafe_sim.runtime.Agent` in other packages."""


def load_agent(
    setup: Setup,
    policy_agent: "type[PolicyAgent] | None" = None,
    warn: Callable[[str], object] = print_warning,
) -> tuple[Agent, dict[str, Any]]:
    """Return the agent with a name, and its description for the results, as JSON.

    An oracle, an entry point of the group "rulesafe.agents" or `module:Class` of a subclass of
    Agent acts with the complete state of the simulation. All other names are policies.

    Args:
        setup: the agent and how it is run.
        policy_agent: class that runs a policy; None: PolicyAgent.
        warn: as for `find_policy`.

    Raises:
        RuleSafeError: if the agent is unknown or cannot be used.
    """
    name = setup.policy
    agent = _privileged(name)
    if agent is None:
        return _policy(setup, policy_agent, warn)
    if name in ORACLES:
        return agent, {"kind": name, "privileged": True}
    return agent, {"kind": "agent", "name": name, "privileged": True, "files": _module_hash(name)}


def _privileged(name: str) -> Agent | None:
    """Return the agent with a name, or None if the name is that of a policy."""
    if name in ORACLES:
        return ORACLES[name]
    installed = name in AGENTS.names()
    if not installed and not is_reference(name):
        return None
    found: object = AGENTS.load(name) if installed else import_object(name)
    if isinstance(found, type) and issubclass(found, Agent):
        return found()
    if installed:
        raise RuleSafeError(
            f"entry point {name!r} of {AGENTS.group} is {found!r}; it must be a subclass of "
            f"{Agent.__module__}.Agent"
        )
    return None


def _policy(
    setup: Setup, policy_agent: "type[PolicyAgent] | None", warn: Callable[[str], object]
) -> tuple[Agent, dict[str, Any]]:
    from policy_node.loading import find_policy, memory_of_policy
    from rulesafe_eval.policies import PolicyAgent, SkillsAgent
    from vq_memory_node.memory import WIDTHS

    facts = facts_of(setup.policy)
    policy = find_policy(setup.policy, warn=warn)
    memory = memory_of_policy(policy, WIDTHS)
    loaded = {Path(file).name: sha256(Path(file)) for file in getattr(policy, "files", ())}
    if facts["kind"] == "class" and loaded:
        facts["files"] = facts["files"] | loaded
    if facts["kind"] == "remote":
        facts |= {"memory": memory.describe() if memory.length else None}
        facts |= {"server": getattr(policy, "metadata", None)}
    if facts.get("family") == "skills":
        skills = SkillsAgent(policy, memory, setup.execute, setup.execution)
        return skills, facts | {"privileged": True}
    if memory.privileged:
        facts |= {"privileged": True}
    made = policy_agent or PolicyAgent
    return made(policy, memory, setup.execute, setup.execution), facts


def absolute(policy: str) -> str:
    """Return the absolute path of a folder, for workers; other names are returned unchanged."""
    is_folder = policy not in ORACLES and Path(policy).is_dir()
    return str(Path(policy).absolute()) if is_folder else policy


def is_privileged(request: Mapping[str, Any]) -> bool:
    """Return whether the agent of an evaluation uses state of the lock, as it states or as its name
    says."""
    actor, names = request["actor"], AGENTS.names()
    named = request["setup"]["policy"] in names or actor.get("kind") in (*names, "agent")
    return named or bool(actor.get("privileged"))


def facts_of_agent(name: str) -> dict[str, Any]:
    """Return the description of an agent that runs in another process; "none": a node without a
    name."""
    if name == "none":
        return {"kind": "graph"}
    return {"kind": name, "privileged": True} if name in ORACLES else facts_of(name)


def facts_of(name: str) -> dict[str, Any]:
    """Return the metadata of a policy for the results.

    For a checkpoint these are its family, size, memory, dataset and revision from policy.json; the
    seed, steps and duration of the training; the renderers of the images and point clouds that it
    was trained on, and the renderer of its cameras, if it is not the default one; and the SHA-256
    of each file, also of the modules of a family or memory that is not built in. For a class it is
    the SHA-256 of its module, so that episodes of an earlier version of it are not mixed with those
    of a later one.
    """
    if scheme_of(name):
        return {"kind": "remote", "name": name}
    if is_reference(name):
        return {"kind": "class", "name": name, "files": _module_hash(name)}
    from policy_node.checkpoints import file_hashes, find, read_policy, shipped
    from policy_node.renderers import renderers_of

    try:
        folder = Path(find(name))
    except RuleSafeError:
        valid = [*AGENTS.names(), *shipped(), "a checkpoint's folder", "module:Class"]
        raise unknown_name("policy", name, [*valid, *addresses()]) from None
    about = read_json(folder / "policy.json", "a policy")
    kept = ("family", "size", "memory", "data", "revision")
    trained = about.get("training") or {}
    try:
        config = trained.get("facts", {}).get("config", {})
        training = {key: config[key] for key in ("seed", "steps") if key in config}
        training |= {k: v for k, v in trained.get("results", {}).items() if k == "seconds"}
    except (AttributeError, TypeError) as error:
        raise RuleSafeError(f"{folder}: training in policy.json is invalid: {error}") from error
    if base := about.get("base"):  # its encoder was exchanged
        training["encoder"] = base.get("encoder")
    described = {key: about.get(key) for key in kept}
    checkpoint = read_policy(name, weights=False)
    described["trained_on_renderer"] = ", ".join(renderers_of(checkpoint))
    if checkpoint.cameras.renderer != RENDERERS[0]:
        described["renderer"] = renderer_version(checkpoint.cameras.renderer)
    files = file_hashes(name)
    for module in (described["family"], (described["memory"] or {}).get("kind", "")):
        files |= _module_hash(str(module))
    return {"kind": "checkpoint", **described, "training": training, "files": files}


def _module_hash(name: str) -> dict[str, str]:
    """Return the SHA-256 of the file of `module:Class` by the file's name; empty for other names,
    or if this process cannot find it: in a ROS graph, only the policy's machine may have it."""
    if not is_reference(name):
        return {}
    try:
        found = find_spec(name.partition(":")[0])
    except (ImportError, ValueError):
        return {}
    if found is None or found.origin is None or not found.has_location:
        return {}
    path = Path(found.origin)
    return {path.name: sha256(path)}
