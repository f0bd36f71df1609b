"""The registry of policy families. The modules of a family are imported when it is used."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from policy_node.configs import NetworkConfig
from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_core.plugins import Registry, import_object
from vq_memory_node.memory import MemoryShape

if TYPE_CHECKING:
    from policy_node.batches import Network


@dataclass(frozen=True)
class Family:
    """A policy family; its parts are given as "module:name".

    Attributes:
        sizes: a dict size -> configuration, with `tiny`, in a module without torch.
        network: the network's class, called with a configuration and a MemoryShape.
        source: publication of the family.
        batch: default batch size of training.
        grasps: default share of windows before the hand opens or closes (`TrainConfig.grasps`).
        far: default share of windows far from the demonstrations (`TrainConfig.far`).
    """

    sizes: str
    network: str
    source: str
    batch: int = 16
    grasps: float = 0.0
    far: float = 0.0

    def configs(self) -> Mapping[str, NetworkConfig]:
        """Return the configurations by size."""
        found: Mapping[str, NetworkConfig] = import_object(self.sizes)
        return found


FAMILIES: Registry[Family] = Registry(
    "rulesafe.policies",
    "policy",
    {
        "dp3": Family(
            "policy_node.configs:DP3_SIZES",
            "policy_node.dp3:Dp3",
            "Ze et al., 3D Diffusion Policy, 2024",
            batch=64,
        ),
        "bc": Family(
            "policy_node.configs:BC_SIZES",
            "policy_node.bc:Bc",
            "behaviour cloning (Pomerleau, ALVINN, 1988), as a residual MLP",
            batch=128,
            grasps=0.3,
            far=0.1,
        ),
        "skills": Family(
            "policy_node.configs:SKILLS_SIZES",
            "policy_node.skills:Skills",
            "nearest demonstrations (VINN; Pari et al., 2021); executes subtasks, for two_level",
        ),
        "two_level": Family(
            "policy_node.configs:TWO_LEVEL_SIZES",
            "policy_node.two_level:TwoLevel",
            "subtask prediction as in pi0.5 (Physical Intelligence, 2025)",
            batch=64,
        ),
        "rdt": Family(
            "policy_node.configs_vla:RDT_SIZES",
            "policy_node.rdt:Rdt",
            "Liu et al., RDT-1B, 2024",
        ),
        "cogact": Family(
            "policy_node.configs_vla:COGACT_SIZES",
            "policy_node.cogact:CogAct",
            "Li et al., CogACT, 2024",
        ),
        "pi0": Family(
            "policy_node.configs_vla:PI0_SIZES",
            "policy_node.pi0:Pi0",
            "Black et al., pi0, 2024",
        ),
    },
)


def find_family(name: str) -> Family:
    """Return a family by its name in FAMILIES.

    Raises:
        RuleSafeError: the name is unknown, or the object is not a Family.
    """
    found: object = FAMILIES.load(name)
    if not isinstance(found, Family):
        raise RuleSafeError(f"{name!r} is {found!r}; valid: a policy_node.families.Family")
    return found


def find_config(family: str, size: str) -> NetworkConfig:
    """Return a family's configuration of a size.

    Raises:
        RuleSafeError: the family or the size is unknown, or it is no NetworkConfig.
    """
    sizes = find_family(family).configs()
    if size not in sizes:
        raise unknown_name(f"size of {family}", size, sizes)
    config: object = sizes[size]
    if not isinstance(config, NetworkConfig):
        raise RuleSafeError(
            f"{family} {size} is {config!r}; its class must derive from "
            "policy_node.configs.NetworkConfig"
        )
    return config


def make_network(family: str, config: NetworkConfig, memory: MemoryShape) -> "Network":
    """Return the network with random weights from torch's global generator.

    Raises:
        RuleSafeError: torch or another package of the extra "learn" is not installed.
    """
    made: Network = import_object(find_family(family).network)(config, memory)
    return made
