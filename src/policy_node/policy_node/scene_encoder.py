"""Encoders that estimate a safe's pose, identity and joint positions from a point cloud or images.

A hundred demonstrations contain a hundred poses of a safe, and a PointNet that is trained on them
overfits to these poses. Scenes without a demonstration are cheap to render: an encoder is trained
on thousands of them first, and policies use its output. Scenes do not contain the lock's state.

    encoder = load_encoder("ten_safes")
    encoder(points)                     # (B, N, 6) -> (B, encoder.features)
    encoder = load_encoder("ten_safes_images")
    encoder(images)                     # (B, K, H, W, 3) -> (B, encoder.features)

Trained by `rulesafe policy encoder` on the scenes of `rulesafe policy scenes`.
"""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn
from torch.nn.functional import adaptive_avg_pool2d, cross_entropy, l1_loss

from policy_node.configs import EncoderConfig, from_json
from policy_node.pointnet import PointNet
from rulesafe_core.cameras import DEFAULT_CAMERAS
from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_core.files import check_regular, draft_file, write_atomically
from rulesafe_core.text_files import parse_json
from rulesafe_core.versions import EARLIER
from vq_memory_node.resume import VALUE_ERRORS

QUANTITIES = ("x", "y", "z", "yaw", "knob", "handle", "door")
"""The continuous quantities that the encoder estimates: m in the pelvis frame, and rad."""

KIND = "rulesafe scene encoder 1"

SHIPPED = Path(__file__).parent / "data" / "encoders"
"""Folder of the shipped encoders."""


class ImageNet(nn.Module):
    """Computes features (..., hidden) of the images (..., K, H, W, 3) uint8 of K cameras.

    Each camera has its own convolutions. Their outputs are not averaged over the image, since the
    features depend on where things are.
    """

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.side = config.image_size
        self.cameras = nn.ModuleList(_convolutions(config.convolutions) for _ in config.cameras)
        cells = (self.side // 2 ** len(config.convolutions)) ** 2
        self.out = nn.Linear(len(config.cameras) * cells * config.convolutions[-1], config.hidden)

    def forward(self, images: Tensor) -> Tensor:
        pixels = images.flatten(0, -5).movedim(-1, -3).float()
        found = []
        for camera, convolutions in enumerate(self.cameras):
            small = adaptive_avg_pool2d(pixels[:, camera], self.side)
            small = (small + 0.5).floor() / 255 - 0.5  # rounded as in image_arrays.shrink
            found.append(convolutions(small).flatten(1))
        features: Tensor = self.out(torch.cat(found, dim=-1))
        return features.unflatten(0, images.shape[:-4])


def _convolutions(channels: tuple[int, ...]) -> nn.Sequential:
    layers: list[nn.Module] = []
    for before, after in zip((3, *channels), channels, strict=False):
        layers += [nn.Conv2d(before, after, 3, 2, 1), nn.GroupNorm(4, after), nn.ReLU()]
    return nn.Sequential(*layers)


class SceneEncoder(nn.Module):
    """Computes scene features (..., 7 + safes) of point clouds (..., N, 6), or of images
    (..., K, H, W, 3) uint8 if the configuration has an `image_size`: QUANTITIES, normalised by mean
    and standard deviation in the training scenes, then the probability of each safe.

    Attributes:
        features: number of features, 7 + number of safes.
    """

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.middle: Tensor
        self.spread: Tensor
        self.config, self.features = config, len(QUANTITIES) + len(config.safes)
        if config.image_size:
            self.images = ImageNet(config)
        else:
            self.cloud = PointNet(config.pointnet, config.hidden)
        layers = [nn.ReLU(), nn.Linear(config.hidden, config.hidden), nn.ReLU()]
        self.head = nn.Sequential(*layers, nn.Linear(config.hidden, self.features))
        self.register_buffer("middle", torch.zeros(len(QUANTITIES)))
        self.register_buffer("spread", torch.ones(len(QUANTITIES)))

    def forward(self, inputs: Tensor) -> Tensor:
        found = self._outputs(inputs)
        quantities, safe = found[..., : len(QUANTITIES)], found[..., len(QUANTITIES) :]
        return torch.cat([quantities, safe.softmax(-1)], dim=-1)

    def _outputs(self, inputs: Tensor) -> Tensor:
        outputs: Tensor = self.head(
            self.images(inputs) if self.config.image_size else self.cloud(inputs)
        )
        return outputs

    def loss(self, inputs: Tensor, seen: Tensor, safe: Tensor) -> Tensor:
        """Return the loss of B point clouds or pairs of images, given the true QUANTITIES (B, 7), m
        and rad, and indices of safes (B,)."""
        found = self._outputs(inputs)
        targets = (seen - self.middle) / self.spread
        error = l1_loss(found[:, : len(QUANTITIES)], targets)
        return error + 0.1 * cross_entropy(found[:, len(QUANTITIES) :], safe)

    def estimate(self, inputs: Tensor) -> Tensor:
        """Return the estimated QUANTITIES (..., 7) in m and rad."""
        return self(inputs)[..., : len(QUANTITIES)] * self.spread + self.middle

    def normalised_as(self, middle: Tensor, spread: Tensor) -> dict[str, Tensor]:
        """Return a state dict with which the same encoder normalises QUANTITIES by another mean and
        standard deviation (7,), those of an encoder that it replaces."""
        state = {name: value.clone() for name, value in self.state_dict().items()}
        last, count = len(self.head) - 1, len(QUANTITIES)
        weight, bias = state[f"head.{last}.weight"], state[f"head.{last}.bias"]
        weight[:count] *= (self.spread / spread)[:, None]
        bias[:count] = (bias[:count] * self.spread + self.middle - middle) / spread
        return state | {"middle": middle.clone(), "spread": spread.clone()}

    def poses(self, features: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the safe's pose (..., 4), m and rad, from scene features (..., features)."""
        spread, middle = self.spread.cpu().numpy(), self.middle.cpu().numpy()
        found: NDArray[np.float64] = features[..., :4].astype(float) * spread[:4] + middle[:4]
        return found

    def with_pose(
        self, features: NDArray[np.float32], pose: NDArray[np.float64]
    ) -> NDArray[np.float32]:
        """Return scene features (..., features) with the safe's pose replaced by another (4,)."""
        spread, middle = self.spread.cpu().numpy(), self.middle.cpu().numpy()
        found = np.array(features)
        found[..., :4] = (pose - middle[:4]) / spread[:4]
        return found


@dataclass(frozen=True)
class Scenes:
    """N point clouds, or images of K cameras, with their labels.

    Attributes:
        inputs: point clouds (N, P, 6) float16 or float32, in the order of farthest-point sampling;
            or images (N, K, S, S, 3) uint8, in the order of `cameras`.
        seen: (N, 7) float32, QUANTITIES.
        safe: (N,) int64, indices into `safes`.
        safes: names of the safes.
        cameras: names of the cameras.
        renderer: renderer of the scenes, with its version.
    """

    inputs: NDArray[Any]
    seen: NDArray[np.float32]
    safe: NDArray[np.int64]
    safes: tuple[str, ...]
    cameras: tuple[str, ...] = DEFAULT_CAMERAS.names
    renderer: str = EARLIER["renderer"]

    @property
    def image_size(self) -> int:
        """Side length of the images, px; 0: point clouds."""
        return self.inputs.shape[-2] if self.inputs.dtype == np.uint8 else 0

    def tensor(self, rows: Any, points: Any) -> Tensor:
        """Return the inputs of some rows; point clouds are reduced to some points."""
        if self.image_size:
            return torch.from_numpy(self.inputs[rows])
        return torch.from_numpy(self.inputs[rows][:, points].astype(np.float32))

    def save(self, path: Path) -> None:
        """Write the scenes to an .npz file."""
        with draft_file(path) as draft, draft.open("wb") as file:
            np.savez(file, **vars(self))


def load_scenes(path: Path) -> Scenes:
    """Read a file of scenes; raise RuleSafeError if it is missing or invalid."""
    try:
        with np.load(path) as file:
            safes = tuple(map(str, file["safes"]))
            cameras = file.get("cameras", DEFAULT_CAMERAS.names)
            labels = file["seen"], file["safe"]
            renderer = str(file.get("renderer", EARLIER["renderer"]))
            return Scenes(file["inputs"], *labels, safes, tuple(map(str, cameras)), renderer)
    except (BadZipFile, *VALUE_ERRORS) as error:
        raise RuleSafeError(f"{path} is not a file of `policy scenes`: {error}") from error


def fit(
    scenes: Scenes,
    steps: int,
    seed: int = 0,
    progress: Callable[[int, float], None] = lambda step, loss: None,
    batch: int = 64,
    rate: float = 2e-3,
) -> SceneEncoder:
    """Train an encoder on scenes; each step uses a random subset of the points of a cloud.

    Args:
        progress: called with the step and its loss.
        rate: maximum learning rate of AdamW: linear warm-up in 100 steps, then a cosine to 0.
    """
    config = EncoderConfig(
        scenes.safes,
        image_size=scenes.image_size,
        cameras=scenes.cameras,
        renderer=scenes.renderer,
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        encoder = SceneEncoder(config)
    encoder.middle.copy_(torch.from_numpy(scenes.seen.mean(0)))
    encoder.spread.copy_(torch.from_numpy(scenes.seen.std(0) + 1e-3))
    seen, safe = torch.from_numpy(scenes.seen), torch.from_numpy(scenes.safe)
    optimiser = torch.optim.AdamW(encoder.parameters(), rate)
    rng = np.random.default_rng(seed)
    for step in range(steps):
        for group in optimiser.param_groups:
            warm_up = min(1.0, (step + 1) / 100)
            group["lr"] = rate * warm_up * 0.5 * (1 + np.cos(np.pi * step / steps))
        rows = rng.integers(len(scenes.inputs), size=batch)
        points = rng.permutation(scenes.inputs.shape[1])[: config.points]
        loss = encoder.loss(scenes.tensor(rows, points), seen[rows], safe[rows])
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        progress(step + 1, loss.item())
    return encoder.eval()


def errors(
    encoder: SceneEncoder, scenes: Scenes, batch: int = 256
) -> tuple[NDArray[np.float32], float]:
    """Return absolute errors of QUANTITIES (N, 7), m and rad, and the fraction of safes that are
    identified correctly. The encoder receives the first points of each cloud.

    Raises:
        RuleSafeError: the scenes are of other safes or cameras, or have another kind or size of
            inputs.
    """
    for name in ("safes", "image_size", "cameras"):
        found, wanted = getattr(scenes, name), getattr(encoder.config, name)
        if found != wanted:
            raise RuleSafeError(f"{name} of the scenes is {found}, that of the encoder {wanted}")
    differences, correct = [], 0
    points = slice(encoder.config.points)
    with torch.inference_mode():
        for first in range(0, len(scenes.inputs), batch):
            rows = slice(first, first + batch)
            inputs = scenes.tensor(rows, points)
            differences.append(np.abs(encoder.estimate(inputs).numpy() - scenes.seen[rows]))
            safe = encoder(inputs)[:, len(QUANTITIES) :].argmax(-1).numpy()
            correct += int((safe == scenes.safe[rows]).sum())
    return np.concatenate(differences), correct / len(scenes.inputs)


def make_encoder(encoder: str | EncoderConfig, images: bool = False) -> SceneEncoder:
    """Return a frozen encoder: a trained one by name or file (see `load_encoder`), or one of a
    configuration, whose weights are then loaded from a policy's checkpoint.

    Args:
        encoder: name, file or configuration.
        images: whether the encoder must receive images; otherwise it must receive point clouds.

    Raises:
        RuleSafeError: it receives the other kind of input; see also `load_encoder`.
    """
    made = load_encoder(encoder) if isinstance(encoder, str) else SceneEncoder(encoder)
    if bool(made.config.image_size) != images:
        valid, found = ("images", "point clouds") if images else ("point clouds", "images")
        raise RuleSafeError(
            f"the scene encoder {encoder} receives {found}, but the network provides {valid}"
        )
    return made.requires_grad_(False)


def save_encoder(encoder: SceneEncoder, path: Path) -> None:
    """Write weights and configuration to a safetensors file."""
    about = {"kind": KIND, "config": json.dumps(asdict(encoder.config))}
    write_atomically(path, save(dict(encoder.state_dict()), about))


def find_encoder(name: str) -> Path:
    """Return the file of a shipped encoder by its name, or of another one by its path; raise
    RuleSafeError if the name is unknown."""
    path = Path(name)
    if path.suffix == ".safetensors":
        return path
    names = sorted(file.stem for file in SHIPPED.glob("*.safetensors"))
    if name not in names:
        raise unknown_name("scene encoder", name, names)
    return SHIPPED / f"{name}.safetensors"


def load_encoder(name: str) -> SceneEncoder:
    """Read an encoder: a shipped one by name, or a .safetensors file.

    Raises:
        RuleSafeError: the name is unknown, or the file does not contain a scene encoder.
    """
    path = find_encoder(name)
    try:
        check_regular(path)
        with safe_open(path, "pt") as file:
            about = file.metadata() or {}
            if about.get("kind") != KIND:
                raise RuleSafeError(f"{path} is not a scene encoder of this version ({KIND})")
            encoder = SceneEncoder(from_json(EncoderConfig, parse_json(about["config"])))
            if not encoder.middle.is_meta:  # on the meta device, weights are not needed
                weights = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
                encoder.load_state_dict(weights)
    except (RuntimeError, SafetensorError, *VALUE_ERRORS) as error:
        raise RuleSafeError(f"{path} cannot be read: {error!r}") from error
    return encoder.eval()
