"""A safe's pose, which safe it is, and the positions of its parts, from a point cloud.

A hundred demonstrations contain a hundred poses of a safe, and a PointNet that is trained on them
overfits to these poses. Point clouds without a demonstration cost little, so that an encoder is
first trained on thousands of scenes, and policies use its output. Scenes have no lock.

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

SEEN = ("x", "y", "z", "yaw", "knob", "handle", "door")
"""The estimated quantities of a scene, besides the safe: m in the pelvis frame, and rad."""

KIND = "rulesafe scene encoder 1"


class SceneEncoder(nn.Module):
    """Point clouds (..., N, 6) -> scene features (..., 7 + safes): SEEN as multiples of their
    spread in the scenes, then the probability of each safe.

    Attributes:
        config: as given.
        features: 7 + safes.
    """

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.middle: Tensor
        self.spread: Tensor
        self.config, self.features = config, len(SEEN) + len(config.safes)
        self.cloud = PointNet(config.pointnet, config.hidden)
        layers = [nn.ReLU(), nn.Linear(config.hidden, config.hidden), nn.ReLU()]
        self.head = nn.Sequential(*layers, nn.Linear(config.hidden, self.features))
        self.register_buffer("middle", torch.zeros(len(SEEN)))
        self.register_buffer("spread", torch.ones(len(SEEN)))

    def forward(self, points: Tensor) -> Tensor:
        found = self.head(self.cloud(points))
        seen, safe = found[..., : len(SEEN)], found[..., len(SEEN) :]
        return torch.cat([seen, safe.softmax(-1)], dim=-1)

    def loss(self, points: Tensor, seen: Tensor, safe: Tensor) -> Tensor:
        """Return the loss: clouds (B, N, 6), SEEN (B, 7) in m and rad, indices of safes (B,)."""
        found = self.head(self.cloud(points))
        wanted = (seen - self.middle) / self.spread
        off = l1_loss(found[:, : len(SEEN)], wanted)
        return off + 0.1 * cross_entropy(found[:, len(SEEN) :], safe)

    def estimate(self, points: Tensor) -> Tensor:
        """Return SEEN (..., 7) in m and rad."""
        return self(points)[..., : len(SEEN)] * self.spread + self.middle

    def poses(self, features: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the safe's pose (..., 4), m and rad, of scene features (..., features)."""
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
        seen: (N, 7) float32, SEEN.
        safe: (N,) int64, indices into `safes`.
        safes: names.
    """

    clouds: NDArray[np.floating]
    seen: NDArray[np.float32]
    safe: NDArray[np.int64]
    safes: tuple[str, ...]

    def save(self, path: Path) -> None:
        """Write the scenes as .npz."""
        with path.open("wb") as file:
            np.savez(file, clouds=self.clouds, seen=self.seen, safe=self.safe, safes=self.safes)


def load_scenes(path: Path) -> Scenes:
    """Read scenes. Errors: RuleSafeError if the file is missing or is not one of scenes."""
    try:
        with np.load(path) as kept:
            safes = tuple(str(name) for name in kept["safes"])
            return Scenes(kept["clouds"], kept["seen"], kept["safe"], safes)
    except (OSError, ValueError, KeyError) as error:
        raise RuleSafeError(f"{path} holds no scenes: {error}") from error


def fit(
    scenes: Scenes,
    steps: int,
    seed: int = 0,
    progress: Callable[[int, float], None] = lambda step, loss: None,
    batch: int = 64,
    rate: float = 2e-3,
) -> SceneEncoder:
    """Train an encoder on scenes, with other points of them at each step.

    Args:
        progress: called with the step and its loss.
        rate: AdamW's maximum, reached after 100 steps; it falls to 0 along half a cosine.
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
            rise = min(1.0, (step + 1) / 100)
            group["lr"] = rate * rise * 0.5 * (1 + np.cos(np.pi * step / steps))
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
    """Return the absolute errors of SEEN (N, 7), m and rad, for the first points of each cloud; and
    the share of safes that are recognised."""
    off, known = [], 0
    count = encoder.config.points
    with torch.inference_mode():
        for first in range(0, len(scenes.clouds), batch):
            rows = slice(first, first + batch)
            points = torch.from_numpy(scenes.clouds[rows, :count].astype(np.float32))
            off.append(np.abs(encoder.estimate(points).numpy() - scenes.seen[rows]))
            safe = encoder(points)[:, len(SEEN) :].argmax(-1).numpy()
            known += int((safe == scenes.safe[rows]).sum())
    return np.concatenate(off), known / len(scenes.clouds)


def make_encoder(encoder: str | EncoderConfig) -> SceneEncoder:
    """Return a frozen encoder: a trained one by name or file, or one of a shape, whose weights a
    checkpoint has. Errors: as load_encoder."""
    made = load_encoder(encoder) if isinstance(encoder, str) else SceneEncoder(encoder)
    return made.requires_grad_(False)


def save_encoder(encoder: SceneEncoder, path: Path) -> None:
    """Write weights and configuration into one safetensors file."""
    about = {"kind": KIND, "config": json.dumps(asdict(encoder.config))}
    write_atomically(path, save(dict(encoder.state_dict()), about))


def load_encoder(name: str) -> SceneEncoder:
    """Read an encoder: one that comes with the package, by name, or a .safetensors file.

    Errors: RuleSafeError for an unknown name, or a file that holds no scene encoder.
    """
    folder = Path(str(resources.files("policy_node"))) / "data" / "encoders"
    path = Path(name)
    if path.suffix != ".safetensors":
        there = sorted(file.stem for file in folder.glob("*.safetensors"))
        if name not in there:
            raise unknown_name("scene encoder", name, there)
        path = folder / f"{name}.safetensors"
    try:
        with safe_open(path, "pt") as kept:
            about = kept.metadata() or {}
            if about.get("kind") != KIND:
                raise RuleSafeError(f"{path} holds no scene encoder of this version ({KIND})")
            encoder = SceneEncoder(EncoderConfig(**json.loads(about["config"])))
            if not encoder.middle.is_meta:  # a description alone has no use for weights
                weights = {key: kept.get_tensor(key) for key in kept.keys()}  # noqa: SIM118
                encoder.load_state_dict(weights)
    except (OSError, SafetensorError) as error:
        raise RuleSafeError(f"{path} cannot be read: {error}") from error
    return encoder.eval()
