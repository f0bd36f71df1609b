"""A policy on disk: `policy.safetensors` (weights) and `policy.json` (all that gives them meaning).

policy.json: format; family, size, config of the network; memory with the hash of its tokenizer;
joints, rate, chunk; normaliser; data: digest of the dataset, instructions, episodes, frames;
revision of the source; training: settings and figures; sha256 of policy.safetensors.

A checkpoint that is damaged, or whose memory, joints or chunks are others than here, is refused
with the reason.
"""

import subprocess
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save
from torch import Tensor

from policy_node.configs import NetworkConfig
from policy_node.families import find_config, find_family, make_network
from policy_node.normaliser import Normaliser, normaliser_from
from policy_node.policy import CHUNK
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.files import write_atomically
from rulesafe_core.joints import ACTION_JOINTS
from rulesafe_data.files import read_json, sha256, write_json
from rulesafe_data.layout import FPS
from vq_memory_node.memory import Memory, memory_from
from vq_memory_node.model_files import find_folder, names_in

if TYPE_CHECKING:
    from policy_node.batches import Network

FORMAT = "rulesafe policy 1"
SHIPPED = Path(__file__).parent / "data" / "policies"
"""Where the policies that come with the package are, a folder each."""

JSON_FILE, ARRAY_FILE = "policy.json", "policy.safetensors"


@dataclass(frozen=True)
class Checkpoint:
    """A trained policy. `save_policy`, `read_policy`.

    Attributes:
        family, size, config: of the network.
        memory: what it remembers with.
        normaliser: of joints and actions.
        weights: of the network, by the names of its state.
        data: facts of the demonstrations.
        training: settings and figures of the training.
        revision: of the source it was trained with, as git names it; empty if not known.
    """

    family: str
    size: str
    config: NetworkConfig
    memory: Memory
    normaliser: Normaliser
    weights: Mapping[str, Tensor]
    data: Mapping[str, Any] = field(default_factory=dict)
    training: Mapping[str, Any] = field(default_factory=dict)
    revision: str = ""

    def network(self) -> "Network":
        """The network with these weights, for inference.

        Errors: RuleSafeError if the weights are not those of the configuration.
        """
        with torch.random.fork_rng(devices=[]):  # the random weights are thrown away at once
            network = make_network(self.family, self.config, self.memory.shape)
        try:
            network.load_state_dict(dict(self.weights))
        except RuntimeError as error:
            raise RuleSafeError(f"the weights do not fit the configuration: {error}") from error
        return network.eval().requires_grad_(False)


def save_policy(checkpoint: Checkpoint, folder: Path | str) -> None:
    """Write a checkpoint; policy.json last, so that where it is, the checkpoint is whole."""
    folder = Path(folder)
    # Cloned, for a file cannot hold two names of one tensor.
    weights = {name: value.detach().cpu().clone() for name, value in checkpoint.weights.items()}
    write_atomically(folder / ARRAY_FILE, save(weights))
    about = {
        "format": FORMAT,
        "family": checkpoint.family,
        "size": checkpoint.size,
        "config": asdict(checkpoint.config),  # type: ignore[call-overload]
        "memory": checkpoint.memory.describe(),
        "joints": list(ACTION_JOINTS),
        "rate": FPS,
        "chunk": CHUNK,
        "normaliser": checkpoint.normaliser.as_json(),
        "data": dict(checkpoint.data),
        "revision": checkpoint.revision,
        "training": dict(checkpoint.training),
        "sha256": sha256(folder / ARRAY_FILE),
    }
    write_json(folder / JSON_FILE, about)


def read_policy(name: Path | str) -> Checkpoint:
    """Read a checkpoint: one that comes with the package, by its name, or that of a folder.

    Errors: RuleSafeError if there is none, if it is damaged, or if it is for another memory model,
    other joints, another rate or other chunks.
    """
    folder = find(name)
    about = read_json(folder / JSON_FILE, "the description of a policy")
    found = about.get("format") if isinstance(about, dict) else None
    if found != FORMAT:
        raise RuleSafeError(f"{folder / JSON_FILE}: format {found!r}; valid: {FORMAT!r}")
    try:
        _same_robot(about)
        config = _config(about["family"], about["size"], about["config"])
        return Checkpoint(
            family=about["family"],
            size=about["size"],
            config=config,
            memory=memory_from(about["memory"]),
            normaliser=normaliser_from(about["normaliser"], config.past),
            weights=_weights(folder / ARRAY_FILE, about["sha256"]),
            data=dict(about["data"]),
            training=dict(about["training"]),
            revision=str(about["revision"]),
        )
    except RuleSafeError as error:
        raise RuleSafeError(f"{folder}: {error}") from error
    except (KeyError, TypeError, ValueError) as error:
        raise RuleSafeError(f"{folder / JSON_FILE}: not understood: {error!r}") from error


def find(name: Path | str) -> Path:
    """Return the folder of a policy by its name among the shipped ones, or by path.

    Errors: RuleSafeError, listing the names, if there is none.
    """
    return find_folder(SHIPPED, name, JSON_FILE, "policy")


def shipped() -> list[str]:
    """Return the names of the policies that come with the package."""
    return names_in(SHIPPED, JSON_FILE)


def revision() -> str:
    """Return the commit of the source tree, with "-dirty" if it was changed since; "" where it is
    installed without one."""
    folder = str(Path(__file__).parent)
    command = ["git", "-C", folder, "describe", "--always", "--dirty", "--abbrev=40"]
    try:
        found = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return found.stdout.strip()


def _same_robot(about: Mapping[str, Any]) -> None:
    if tuple(about["joints"]) != ACTION_JOINTS:
        raise RuleSafeError(
            f"a policy for other joints: {', '.join(about['joints'])}; "
            f"expected {', '.join(ACTION_JOINTS)}"
        )
    if (about["chunk"], about["rate"]) != (CHUNK, FPS):
        raise RuleSafeError(
            f"a policy for chunks of {about['chunk']} rows at {about['rate']} Hz; "
            f"expected {CHUNK} at {FPS} Hz"
        )


def _config(family: str, size: str, about: Mapping[str, Any]) -> NetworkConfig:
    """A configuration of its family's class from plain values, tuples having become lists."""
    find_family(family)
    kind = type(find_config(family, size))
    values = {k: tuple(v) if isinstance(v, list) else v for k, v in about.items()}
    return kind(**values)


def _weights(path: Path, digest: str) -> dict[str, Tensor]:
    try:
        weights: dict[str, Tensor] = load_file(path)
    except FileNotFoundError as error:
        raise RuleSafeError(f"no {ARRAY_FILE}") from error
    except (SafetensorError, KeyError, ValueError) as error:
        raise RuleSafeError(f"{ARRAY_FILE} is damaged: {error}") from error
    if sha256(path) != digest:
        raise RuleSafeError(f"{JSON_FILE} and {ARRAY_FILE} do not belong together or were changed")
    return weights
