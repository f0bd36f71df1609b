"""Policy checkpoints: `policy.safetensors` (weights) and `policy.json` (metadata).

policy.json: format; family, size, config of the network; memory with the hash of its tokenizer;
joints, rate, chunk; normaliser; data: digest and versions of the dataset, instructions, episodes,
frames; revision of the source; training: settings and results; sha256 of policy.safetensors;
cameras, if they are not the default ones.

A policy whose scene encoder was exchanged (`exchange_encoder`) stores no weights: `base` in
policy.json has the names of policy and encoder, and the encoder's hash.

Loading raises an error with the reason if a checkpoint is damaged, or if its memory, joints, rate
or chunk length differ from those of this version.
"""

import subprocess
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save
from torch import Tensor
from torch.nn.modules.module import register_module_parameter_registration_hook

from policy_node.configs import (
    BcConfig,
    EncoderConfig,
    NetworkConfig,
    SkillsConfig,
    TwoLevelConfig,
    from_json,
)
from policy_node.families import FAMILIES, find_config, make_network
from policy_node.normaliser import Normaliser, normaliser_from
from policy_node.policy import CHUNK
from policy_node.scene_encoder import find_encoder, load_encoder
from rulesafe_core.cameras import DEFAULT_CAMERAS, CameraSet
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.files import check_regular, write_atomically
from rulesafe_core.joints import ACTION_JOINTS
from rulesafe_core.text_files import read_json, sha256
from rulesafe_data.files import write_json
from rulesafe_data.layout import FPS
from vq_memory_node.memory import Memory, memory_from
from vq_memory_node.model_files import find_folder, names_in
from vq_memory_node.resume import VALUE_ERRORS

if TYPE_CHECKING:
    from policy_node.batches import Network

FORMAT = "rulesafe policy 1"
SHIPPED = Path(__file__).parent / "data" / "policies"
"""Folder of the shipped policies; each has a folder in it."""

MAX_PARAMETERS = 10_000
"""Maximum number of tensors of a network, which limits the time to make it."""

JSON_FILE, ARRAY_FILE = "policy.json", "policy.safetensors"


@dataclass(frozen=True)
class Checkpoint:
    """A trained policy, written by `save_policy` and read by `read_policy`.

    Attributes:
        family, size, config: family, size and configuration of the network.
        memory: the memory that the policy was trained with.
        normaliser: normalisation of joints and actions.
        weights: state dict of the network.
        data: metadata of the demonstrations.
        training: settings and results of the training.
        revision: git revision of the source that it was trained with; empty if unknown.
        cameras: the cameras of the demonstrations, which the policy requires.
        base: policy and encoder of `exchange_encoder`; else empty.
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
    cameras: CameraSet = DEFAULT_CAMERAS
    base: Mapping[str, str] = field(default_factory=dict)

    def network(self) -> "Network":
        """Return the network with these weights, in evaluation mode.

        Raises:
            RuleSafeError: the configuration is not valid, or the weights do not fit it.
        """
        self._check_shapes()
        with torch.random.fork_rng(devices=[]):  # the random weights are replaced
            network = make_network(self.family, self.config, self.memory.shape)
        try:
            network.load_state_dict(dict(self.weights))
        except RuntimeError as error:
            raise RuleSafeError(f"the weights do not fit the configuration: {error}") from error
        return network.eval().requires_grad_(False)

    def _check_shapes(self) -> None:
        """Raise RuleSafeError if the weights do not have the shapes of the configuration, before
        memory is allocated for a network of this size. Networks of other packages are not checked:
        they may read values of tensors, which the meta device does not have."""
        if self.family not in FAMILIES.builtin:
            return
        try:
            with torch.device("meta"), _limited_network():
                network = make_network(self.family, self.config, self.memory.shape)
        except RuleSafeError:
            raise
        except Exception as error:  # libraries raise many kinds
            raise RuleSafeError(f"the configuration is not valid: {error!r:.300}") from error
        expected, found = network.state_dict(), self.weights
        for name in expected.keys() | found.keys():
            shapes = [tuple(of[name].shape) if name in of else None for of in (found, expected)]
            if shapes[0] != shapes[1]:
                raise RuleSafeError(
                    f"the weights do not fit the configuration: {name} has the shape {shapes[0]}, "
                    f"expected {shapes[1]}"
                )


@contextmanager
def _limited_network() -> Iterator[None]:
    """Raise RuleSafeError if a network with more than MAX_PARAMETERS tensors is made."""
    count = 0

    def register(*_: object) -> None:
        nonlocal count
        count += 1
        if count > MAX_PARAMETERS:
            raise RuleSafeError(f"the network has more than {MAX_PARAMETERS} tensors of weights")

    hook = register_module_parameter_registration_hook(register)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of sizes of 0
            yield
    finally:
        hook.remove()


def save_policy(checkpoint: Checkpoint, folder: Path | str) -> None:
    """Write a checkpoint; policy.json last, so that a folder with this file is complete."""
    folder = Path(folder)
    # Cloned since safetensors cannot store tensors that share memory.
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
        **checkpoint.cameras.to_entry(),
    }
    write_json(folder / JSON_FILE, about)


def read_policy(name: Path | str, weights: bool = True) -> Checkpoint:
    """Read a checkpoint by the name of a shipped policy or by its folder.

    Args:
        name: name of a shipped policy, or folder of a checkpoint.
        weights: whether to read the weights; otherwise they are empty.

    Raises:
        RuleSafeError: the checkpoint does not exist, is damaged, or has another memory model, other
            joints, another rate or another chunk length than this version.
    """
    folder = find(name)
    about = read_json(folder / JSON_FILE, "the description of a policy")
    found = about.get("format") if isinstance(about, dict) else None
    if found != FORMAT:
        raise RuleSafeError(f"{folder / JSON_FILE}: format {found!r}; valid: {FORMAT!r}")
    try:
        _check_interface(about)
        config = _config(about["family"], about["size"], about["config"])
        data = dict(about["data"])
        dict(data.get("versions", {}))  # raises if it is no mapping
        return Checkpoint(
            family=about["family"],
            size=about["size"],
            config=config,
            memory=memory_from(about["memory"]),
            normaliser=normaliser_from(about["normaliser"], config.past),
            weights=_weights(folder, about) if weights else {},
            data=data,
            training={str(name): value for name, value in about["training"].items()},
            revision=str(about["revision"]),
            cameras=CameraSet.from_entry(about, "cameras"),
            base=dict(about.get("base", {})),
        )
    except RuleSafeError as error:
        raise RuleSafeError(f"{folder}: {error}") from error
    except (ArithmeticError, *VALUE_ERRORS) as error:
        raise RuleSafeError(f"{folder / JSON_FILE}: invalid content: {error!r:.300}") from error


def file_hashes(name: str) -> dict[str, str]:
    """Return the SHA-256 of each file of a checkpoint, by file name; see `find` for the name."""
    return {path.name: sha256(path) for path in sorted(Path(find(name)).glob("policy.*"))}


def exchange_encoder(name: Path | str, encoder: str, folder: Path | str) -> None:
    """Write a policy that differs from another one in its scene encoder.

    All encoders estimate the same quantities, so that the rest of the policy is used unchanged.
    Policy and encoder are referred to by name or path, and verified when the policy is read.

    Args:
        name: name or folder of a policy of the family `bc`, `skills` or `two_level`.
        encoder: name or file of the new encoder, see `scene_encoder.load_encoder`.
        folder: folder of the new policy.

    Raises:
        RuleSafeError: one of them is not valid, they classify other safes, or the folder already
            contains a policy.
    """
    checkpoint, new = read_policy(name), load_encoder(encoder)
    source, old = find(name), checkpoint.network().scene_encoder()
    about = read_json(source / JSON_FILE, "the description of a policy")
    if "base" in about:
        raise RuleSafeError(f"{source} has an exchanged encoder; use {about['base']['policy']}")
    if (Path(folder) / JSON_FILE).exists():
        raise RuleSafeError(f"{folder} contains a policy; give another folder")
    config, _ = _with_encoder(checkpoint.config, new.config)
    file = find_encoder(encoder)
    if old is None or old.config.safes != new.config.safes:
        raise RuleSafeError(f"the encoder {encoder} classifies other safes than that of {source}")
    if new.config.image_size and new.config.cameras != checkpoint.cameras.names:
        raise RuleSafeError(
            f"the encoder {encoder} receives images of {', '.join(new.config.cameras)}; {source} "
            f"has the cameras {', '.join(checkpoint.cameras.names)}"
        )
    sizes = {"tiny": "images"} if new.config.image_size else {"images": "tiny"}
    about |= {
        "size": sizes.get(checkpoint.size, checkpoint.size),
        "config": asdict(config),  # type: ignore[call-overload]
        "base": {
            "policy": str(name) if source.parent == SHIPPED else str(source.resolve()),
            "encoder": encoder if file.stem == encoder else str(file.resolve()),
            "encoder_sha256": sha256(file),
        },
    }
    write_json(Path(folder) / JSON_FILE, about)


def _with_encoder(config: NetworkConfig, encoder: EncoderConfig) -> tuple[NetworkConfig, str]:
    """Return a configuration with another encoder, and the prefix of the encoder's weights."""
    images = bool(encoder.image_size)
    points = 0 if images else encoder.points
    if isinstance(config, SkillsConfig | BcConfig):
        return replace(config, encoder=encoder, images=images, points=points), "encoder."
    if isinstance(config, TwoLevelConfig) and isinstance(config.skills, SkillsConfig):
        skills = replace(config.skills, encoder=encoder, images=images, points=points)
        return replace(config, skills=skills, images=images, points=points), "skills.encoder."
    raise RuleSafeError(
        "only policies of the families bc, skills and two_level can exchange encoders"
    )


def find(name: Path | str) -> Path:
    """Return the folder of a shipped policy by its name, or of another one by its path.

    Raises:
        RuleSafeError: there is no such policy; the message lists the shipped ones.
    """
    return find_folder(SHIPPED, name, JSON_FILE, "policy")


def shipped() -> list[str]:
    """Return the names of the shipped policies."""
    return names_in(SHIPPED, JSON_FILE)


def revision() -> str:
    """Return the git commit of the source tree, with "-dirty" if there are uncommitted changes; ""
    if the package is installed outside a git repository."""
    folder = str(Path(__file__).parent)
    command = ["git", "-C", folder, "describe", "--always", "--dirty", "--abbrev=40"]
    try:
        found = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return found.stdout.strip()


def _check_interface(about: Mapping[str, Any]) -> None:
    if tuple(about["joints"]) != ACTION_JOINTS:
        raise RuleSafeError(
            f"the policy was trained for other joints: {', '.join(about['joints'])}; "
            f"expected {', '.join(ACTION_JOINTS)}"
        )
    if (about["chunk"], about["rate"]) != (CHUNK, FPS):
        raise RuleSafeError(
            f"the policy was trained for chunks of {about['chunk']} steps at {about['rate']} Hz; "
            f"expected {CHUNK} at {FPS} Hz"
        )


def _config(family: str, size: str, about: Mapping[str, Any]) -> NetworkConfig:
    """Return the configuration with these values, read from JSON."""
    FAMILIES.check_consent(family)
    return from_json(type(find_config(family, size)), about)


def _weights(folder: Path, about: Mapping[str, Any]) -> Mapping[str, Tensor]:
    base = about.get("base")
    if base is None:
        return _stored_weights(folder / ARRAY_FILE, about["sha256"])
    source = find(base["policy"])
    weights = _stored_weights(source / ARRAY_FILE, about["sha256"])
    encoder, path = load_encoder(base["encoder"]), find_encoder(base["encoder"])
    if (found := sha256(path)) != (expected := base["encoder_sha256"]):
        raise RuleSafeError(f"{path} has changed: SHA-256 {found}, expected {expected}")
    config = _config(about["family"], about["size"], about["config"])
    _, prefix = _with_encoder(config, encoder.config)
    rest = {name: value for name, value in weights.items() if not name.startswith(prefix)}
    new = encoder.normalised_as(weights[f"{prefix}middle"], weights[f"{prefix}spread"])
    return rest | {f"{prefix}{name}": value for name, value in new.items()}


def _stored_weights(path: Path, digest: str) -> dict[str, Tensor]:
    try:
        check_regular(path)
        weights: dict[str, Tensor] = load_file(path)
    except FileNotFoundError as error:
        raise RuleSafeError(f"{ARRAY_FILE} is missing") from error
    except (SafetensorError, KeyError, ValueError) as error:
        raise RuleSafeError(f"{ARRAY_FILE} is damaged: {error}") from error
    if (found := sha256(path)) != digest:
        raise RuleSafeError(
            f"{JSON_FILE} and {ARRAY_FILE} do not match: SHA-256 of the weights {found}, expected "
            f"{digest}; restore both files from one training"
        )
    return weights
