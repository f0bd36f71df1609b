"""What is seen as tokens: a cloud through a scene encoder, pictures through others.

Of pictures there is a small convolutional encoder of ours, and there are published ones.
A tower maps pictures (B, 3, H, W), 0..1, to (B, patches, features). `Vision` joins the towers'
features patch by patch, as Prismatic does (Karamcheti et al., 2024), and maps them to a width.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import avg_pool2d, interpolate

from policy_node.attention import perceptron
from policy_node.backbones import make_backbone
from policy_node.batches import Batch
from policy_node.configs_vla import FILMED, Backbone
from policy_node.policy import CAMERAS
from policy_node.scene_encoder import SceneEncoder, see
from rulesafe_core.errors import RuleSafeError

HALF = ((0.5, 0.5, 0.5), (0.5, 0.5, 0.5))
IMAGENET = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
"""Mean and standard deviation of red, green, blue that published encoders were trained with."""


class ConvTower(nn.Module):
    """Convolutions of stride 2, each with group normalisation: a patch is 2^layers pixels wide.

    Args:
        size: side that pictures are brought to.
        channels: of each layer, multiples of 8; the last are a patch's features.
    """

    def __init__(self, size: int, channels: Sequence[int]) -> None:
        super().__init__()
        self.size, self.features = size, channels[-1]
        layers: list[nn.Module] = []
        for before, after in zip((3, *channels[:-1]), channels, strict=True):
            layers += [nn.Conv2d(before, after, 3, 2, 1), nn.GroupNorm(8, after), nn.GELU()]
        self.layers = nn.Sequential(*layers)
        side = size
        for _ in channels:
            side = (side + 1) // 2
        self.patches = side**2

    def forward(self, pictures: Tensor) -> Tensor:
        return self.layers(2 * _resized(pictures, self.size) - 1).flatten(2).transpose(1, 2)


class PublishedTower(nn.Module):
    """A vision transformer of the library transformers; its last layer's patches."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model
        about = model.config
        self.features = about.hidden_size
        dino = about.model_type.startswith("dinov2")
        # DINOv2 interpolates the positions it was trained with to any size; SigLIP has its own.
        self.size = FILMED if dino else about.image_size
        self.patches = (self.size // about.patch_size) ** 2
        mean, std = IMAGENET if dino else HALF
        self.mean: Tensor
        self.std: Tensor
        self.register_buffer("mean", torch.tensor(mean)[:, None, None], persistent=False)
        self.register_buffer("std", torch.tensor(std)[:, None, None], persistent=False)

    def forward(self, pictures: Tensor) -> Tensor:
        scaled = (_resized(pictures, self.size) - self.mean) / self.std
        found = self.model(pixel_values=scaled).last_hidden_state
        return found[:, -self.patches :]  # before them: summaries


def _resized(pictures: Tensor, size: int) -> Tensor:
    if pictures.shape[-2:] == (size, size):
        return pictures
    height, width = pictures.shape[-2:]
    if height == width and height % size == 0:
        return avg_pool2d(pictures, height // size)  # as `pictures.shrink`
    return interpolate(pictures, (size, size), mode="bilinear", antialias=True)


def make_tower(backbone: Backbone) -> ConvTower | PublishedTower:
    """Errors: RuleSafeError as `make_backbone`."""
    if backbone.kind == "conv":
        return ConvTower(**backbone.sizes)
    return PublishedTower(make_backbone(backbone))


class Vision(nn.Module):
    """What is seen, as tokens: the cloud's, then those of both cameras' pictures, the head's first.

    Args:
        towers: all with the same patches; none: no pictures.
        width: of tokens.
        projector: maps the towers' features to it; None: a perceptron of two layers.
        scene: what sees clouds and stays as it is; None: nothing.

    Attributes:
        scene: as given.
    """

    def __init__(
        self,
        towers: Sequence[ConvTower | PublishedTower],
        width: int,
        projector: nn.Module | None = None,
        scene: SceneEncoder | None = None,
    ) -> None:
        super().__init__()
        if len({tower.patches for tower in towers}) > 1 or not (towers or scene):
            counts = ", ".join(str(tower.patches) for tower in towers)
            raise RuleSafeError(f"encoders must see one grid of patches, at least one; {counts}")
        self.scene = scene
        if scene is not None:
            self.from_scene = perceptron(scene.features, width, width)
        self.towers = nn.ModuleList(towers)
        if not towers:
            return
        features = sum(tower.features for tower in towers)
        self.projector = projector or perceptron(features, width, width)
        # From 0, so that published encoders start as they are; which camera, and where.
        self.places = nn.Parameter(torch.zeros(len(CAMERAS), towers[0].patches, width))

    @property
    def tokens(self) -> int:
        """How many there are."""
        pictures = self.places.shape[0] * self.places.shape[1] if self.towers else 0
        return pictures + (self.scene is not None)

    def forward(self, batch: Batch) -> Tensor:
        """(B, tokens, width)."""
        parts = [] if self.scene is None else [self.from_scene(see(self.scene, batch))]
        if self.towers:
            parts.append(self._pictures(batch.images))
        return torch.cat(parts, dim=1)

    def _pictures(self, images: Tensor | None) -> Tensor:
        if images is None:
            raise ValueError("a batch without pictures")
        pictures = images.flatten(0, 1).permute(0, 3, 1, 2).float() / 255
        seen = torch.cat([tower(pictures) for tower in self.towers], dim=-1)
        tokens = self.projector(seen).unflatten(0, images.shape[:2]) + self.places
        return tokens.flatten(1, 2)
