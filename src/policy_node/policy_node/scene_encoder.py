"""An encoder that estimates a safe's pose, identity and joint positions from a point cloud.

A hundred demonstrations contain a hundred poses of a safe, and a PointNet that is trained on them
overfits to these poses. Point clouds without a demonstration are cheap: an encoder is trained on
thousands of scenes first, and policies use its output. Scenes do not contain the lock's state.

    encoder = load_encoder("ten_safes")
    encoder(points)                     # (B, N, 6) -> (B, encoder.features)

Trained by `rulesafe policy encoder` on the scenes of `rulesafe policy scenes`.
"""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, l1_loss

from policy_node.configs import EncoderConfig
from policy_node.pointnet import PointNet
from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_core.files import write_atomically

QUANTITIES = ("x", "y", "z", "yaw", "knob", "handle", "door")
"""The continuous quantities that the encoder estimates: m in the pelvis frame, and rad."""

KIND = "rulesafe scene encoder 1"


class SceneEncoder(nn.Module):
    """Computes scene features (..., 7 + safes) of point clouds (..., N, 6): QUANTITIES, normalised
    by mean and standard deviation in the training scenes, then the probability of each safe.

    Attributes:
        features: number of features, 7 + number of safes.
    """

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.middle: Tensor
        self.spread: Tensor
        self.config, self.features = config, len(QUANTITIES) + len(config.safes)
        self.cloud = PointNet(config.pointnet, config.hidden)
        layers = [nn.ReLU(), nn.Linear(config.hidden, config.hidden), nn.ReLU()]
        self.head = nn.Sequential(*layers, nn.Linear(config.hidden, self.features))
        self.register_buffer("middle", torch.zeros(len(QUANTITIES)))
        self.register_buffer("spread", torch.ones(len(QUANTITIES)))

    def forward(self, points: Tensor) -> Tensor:
        found = self.head(self.cloud(points))
        quantities, safe = found[..., : len(QUANTITIES)], found[..., len(QUANTITIES) :]
        return torch.cat([quantities, safe.softmax(-1)], dim=-1)

    def loss(self, points: Tensor, seen: Tensor, safe: Tensor) -> Tensor:
        """Return the loss of point clouds (B, N, 6), given the true QUANTITIES (B, 7), m and rad,
        and indices of safes (B,)."""
        found = self.head(self.cloud(points))
        targets = (seen - self.middle) / self.spread
        error = l1_loss(found[:, : len(QUANTITIES)], targets)
        return error + 0.1 * cross_entropy(found[:, len(QUANTITIES) :], safe)

    def estimate(self, points: Tensor) -> Tensor:
        """Return the estimated QUANTITIES (..., 7) in m and rad."""
        return self(points)[..., : len(QUANTITIES)] * self.spread + self.middle

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
    """N point clouds with their labels.

    Attributes:
        clouds: (N, P, 6) float16 or float32, in the order of farthest-point sampling.
        seen: (N, 7) float32, QUANTITIES.
        safe: (N,) int64, indices into `safes`.
        safes: names of the safes.
    """

    clouds: NDArray[np.floating]
    seen: NDArray[np.float32]
    safe: NDArray[np.int64]
    safes: tuple[str, ...]

    def save(self, path: Path) -> None:
        """Write the scenes to an .npz file."""
        with path.open("wb") as file:
            np.savez(file, clouds=self.clouds, seen=self.seen, safe=self.safe, safes=self.safes)


def load_scenes(path: Path) -> Scenes:
    """Read a file of scenes; raise RuleSafeError if it is missing or invalid."""
    try:
        with np.load(path) as file:
            safes = tuple(str(name) for name in file["safes"])
            return Scenes(file["clouds"], file["seen"], file["safe"], safes)
    except (OSError, ValueError, KeyError) as error:
        raise RuleSafeError(f"{path} is not a file of `policy scenes`: {error}") from error


def fit(
    scenes: Scenes,
    steps: int,
    seed: int = 0,
    progress: Callable[[int, float], None] = lambda step, loss: None,
    batch: int = 64,
    rate: float = 2e-3,
) -> SceneEncoder:
    """Train an encoder on scenes, with a random subset of the points at each step.

    Args:
        progress: called with the step and its loss.
        rate: maximum learning rate of AdamW: linear warm-up in 100 steps, then a cosine to 0.
    """
    config = EncoderConfig(scenes.safes)
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
        rows = rng.integers(len(scenes.clouds), size=batch)
        points = rng.permutation(scenes.clouds.shape[1])[: config.points]
        cloud = torch.from_numpy(scenes.clouds[rows][:, points].astype(np.float32))
        loss = encoder.loss(cloud, seen[rows], safe[rows])
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        progress(step + 1, loss.item())
    return encoder.eval()


def errors(
    encoder: SceneEncoder, scenes: Scenes, batch: int = 256
) -> tuple[NDArray[np.float32], float]:
    """Return absolute errors of QUANTITIES (N, 7), m and rad, and the fraction of safes that are
    identified correctly, for the first points of each point cloud."""
    differences, correct = [], 0
    count = encoder.config.points
    with torch.inference_mode():
        for first in range(0, len(scenes.clouds), batch):
            rows = slice(first, first + batch)
            points = torch.from_numpy(scenes.clouds[rows, :count].astype(np.float32))
            differences.append(np.abs(encoder.estimate(points).numpy() - scenes.seen[rows]))
            safe = encoder(points)[:, len(QUANTITIES) :].argmax(-1).numpy()
            correct += int((safe == scenes.safe[rows]).sum())
    return np.concatenate(differences), correct / len(scenes.clouds)


def make_encoder(encoder: str | EncoderConfig) -> SceneEncoder:
    """Return a frozen encoder: a trained one by name or file (see `load_encoder`), or one of a
    configuration, whose weights are then loaded from a policy's checkpoint."""
    made = load_encoder(encoder) if isinstance(encoder, str) else SceneEncoder(encoder)
    return made.requires_grad_(False)


def save_encoder(encoder: SceneEncoder, path: Path) -> None:
    """Write weights and configuration to a safetensors file."""
    about = {"kind": KIND, "config": json.dumps(asdict(encoder.config))}
    write_atomically(path, save(dict(encoder.state_dict()), about))


def load_encoder(name: str) -> SceneEncoder:
    """Read an encoder: a shipped one by name, or a .safetensors file.

    Raises:
        RuleSafeError: the name is unknown, or the file does not contain a scene encoder.
    """
    folder = Path(str(resources.files("policy_node"))) / "data" / "encoders"
    path = Path(name)
    if path.suffix != ".safetensors":
        names = sorted(file.stem for file in folder.glob("*.safetensors"))
        if name not in names:
            raise unknown_name("scene encoder", name, names)
        path = folder / f"{name}.safetensors"
    try:
        with safe_open(path, "pt") as file:
            about = file.metadata() or {}
            if about.get("kind") != KIND:
                raise RuleSafeError(f"{path} is not a scene encoder of this version ({KIND})")
            encoder = SceneEncoder(EncoderConfig(**json.loads(about["config"])))
            if not encoder.middle.is_meta:  # on the meta device, weights are not needed
                weights = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
                encoder.load_state_dict(weights)
    except (OSError, SafetensorError) as error:
        raise RuleSafeError(f"{path} cannot be read: {error}") from error
    return encoder.eval()
