"""Who acts in an evaluation: a checkpoint, a policy of one's own, or one of the oracles."""

from pathlib import Path
from typing import Any, Protocol

from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_core.plugins import is_reference
from rulesafe_data.files import read_json, sha256
from rulesafe_eval.live import Live
from rulesafe_eval.oracles import ORACLES
from rulesafe_eval.request import Setup
from rulesafe_sim.simulation import Simulation
from vq_memory_node.rolling import RollingMemory


class Actor(Protocol):
    """Drives the robot through one episode after another."""

    @property
    def renders(self) -> bool:
        """Whether it needs a simulation that renders."""
        ...

    @property
    def memory(self) -> RollingMemory | None:
        """What it remembers by, for films too; None: nothing."""
        ...

    @property
    def facts(self) -> dict[str, Any]:
        """What is known of it, as JSON."""
        ...

    def drive(self, simulation: Simulation, live: Live) -> str:
        """Acts in a simulation that was just reset, frame by frame by `live.step`, until
        `live.over` or until it gives up; the reason for that."""
        ...


def load_actor(setup: Setup) -> Actor:
    """The actor that is named. Errors: RuleSafeError for an unknown or unusable one."""
    from rulesafe_eval.policies import CONTROLS

    if setup.control not in CONTROLS:
        raise unknown_name("memory control", setup.control, CONTROLS)
    if setup.policy in ORACLES:
        if setup.control != "none":
            raise RuleSafeError(f"{setup.policy} has no memory that could be {setup.control}")
        return ORACLES[setup.policy]
    return _policy(setup)


def _policy(setup: Setup) -> Actor:
    from policy_node.loading import find_policy, memory_of_policy
    from rulesafe_eval.policies import CONTROLS, PolicyActor

    facts = facts_of(setup.policy)
    policy = find_policy(setup.policy)
    memory = memory_of_policy(policy)
    if setup.control != "none" and not policy.needs.memory:
        raise RuleSafeError(f"{setup.policy} has no memory that could be {setup.control}")
    controlled = CONTROLS[setup.control](policy)
    return PolicyActor(controlled, memory, setup.execute, setup.execution, facts)


def facts_of(name: str) -> dict[str, Any]:
    """What results keep of a policy: of a checkpoint what its policy.json says, of the training its
    seed, steps and duration, and the SHA-256 of its files."""
    if is_reference(name):
        return {"kind": "class", "name": name}
    from policy_node.checkpoints import find, shipped

    try:
        folder = Path(find(name))
    except RuleSafeError:
        valid = (*ORACLES, *shipped(), "a checkpoint's folder", "module:Class")
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
