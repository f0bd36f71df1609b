"""Encoding of scene features and images as tokens.

An image encoder, a small convolutional or a pretrained one, maps images (B, 3, H, W), 0..1, to
features (B, patches, features). `Vision` concatenates the features of its encoders patch by patch,
as Prismatic does (Karamcheti et al., 2024), and projects them to the width of tokens.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import avg_pool2d, interpolate

from policy_node.attention import mlp
from policy_node.backbones import make_backbone
from policy_node.batches import Batch
from policy_node.configs_vla import IMAGE_SIDE, Backbone
from policy_node.policy import CAMERAS
from policy_node.scene_encoder import SceneEncoder
from rulesafe_core.errors import RuleSafeError

HALF = ((0.5, 0.5, 0.5), (0.5, 0.5, 0.5))
IMAGENET = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
"""Mean and standard deviation of r, g, b with which pretrained encoders were trained."""


class ConvEncoder(nn.Module):
    """Convolutions of stride 2 with group normalisation; a patch is 2^layers pixels wide.

    Args:
        size: side length to which images are resized, pixels.
        channels: channels of each layer, multiples of 8; the last are the features of a patch.
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

    def forward(self, images: Tensor) -> Tensor:
        return self.layers(2 * _resized(images, self.size) - 1).flatten(2).transpose(1, 2)


class PublishedEncoder(nn.Module):
    """A vision transformer of the library transformers; returns the patches of its last layer."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model
        about = model.config
        self.features = about.hidden_size
        dino = about.model_type.startswith("dinov2")
        # DINOv2 interpolates its position embeddings to any size; SigLIP's size is fixed.
        self.size = IMAGE_SIDE if dino else about.image_size
        self.patches = (self.size // about.patch_size) ** 2
        mean, std = IMAGENET if dino else HALF
        self.mean: Tensor
        self.std: Tensor
        self.register_buffer("mean", torch.tensor(mean)[:, None, None], persistent=False)
        self.register_buffer("std", torch.tensor(std)[:, None, None], persistent=False)

    def forward(self, images: Tensor) -> Tensor:
        scaled = (_resized(images, self.size) - self.mean) / self.std
        found = self.model(pixel_values=scaled).last_hidden_state
        return found[:, -self.patches :]  # drop the leading class and register tokens


def _resized(images: Tensor, size: int) -> Tensor:
    if images.shape[-2:] == (size, size):
        return images
    height, width = images.shape[-2:]
    # As in `image_arrays.shrink`, which reduces the images of the training.
    if height % size == 0 and width % size == 0:
        return avg_pool2d(images, (height // size, width // size))
    if height > size or width > size:
        places = torch.arange(size, device=images.device)
        rows, columns = ((places * side + side // 2) // size for side in (height, width))
        return images[..., rows, :][..., columns]
    return interpolate(images, (size, size), mode="bilinear", antialias=True)


def make_vision_encoder(backbone: Backbone) -> ConvEncoder | PublishedEncoder:
    """Return the image encoder of a backbone; see `make_backbone` for exceptions."""
    if backbone.kind == "conv":
        return ConvEncoder(**backbone.sizes)
    return PublishedEncoder(make_backbone(backbone))


class Vision(nn.Module):
    """Encodes scene features as one token, then the images of head and front camera as tokens.

    Args:
        encoders: image encoders with the same number of patches; empty: no images.
        width: width of the tokens.
        projector: maps the features of a patch to `width`; None: an MLP of two layers.
        scene: a frozen scene encoder; None: no point cloud.

    Attributes:
        scene: the scene encoder.
    """

    def __init__(
        self,
        encoders: Sequence[ConvEncoder | PublishedEncoder],
        width: int,
        projector: nn.Module | None = None,
        scene: SceneEncoder | None = None,
    ) -> None:
        super().__init__()
        if len({encoder.patches for encoder in encoders}) > 1 or not (encoders or scene):
            counts = ", ".join(str(encoder.patches) for encoder in encoders)
            raise RuleSafeError(
                "vision needs a scene encoder, or image encoders with the same number of patches; "
                f"got image encoders with these patches: {counts or 'none'}"
            )
        self.scene = scene
        if scene is not None:
            self.from_scene = mlp(scene.features, width, width)
        self.encoders = nn.ModuleList(encoders)
        if not encoders:
            return
        features = sum(encoder.features for encoder in encoders)
        self.projector = projector or mlp(features, width, width)
        # Embedding of camera and patch; 0 at first, so that pretrained features are unchanged.
        self.places = nn.Parameter(torch.zeros(len(CAMERAS), encoders[0].patches, width))

    def forward(self, batch: Batch) -> Tensor:
        """Return tokens (B, tokens, width)."""
        parts = [] if self.scene is None else [self.from_scene(batch.scene(self.scene))]
        if self.encoders:
            parts.append(self._images(batch.images))
        return torch.cat(parts, dim=1)

    def _images(self, images: Tensor | None) -> Tensor:
        if images is None:
            raise ValueError("the batch has no images, which the network requires")
        pixels = images.flatten(0, 1).permute(0, 3, 1, 2).float() / 255
        features = torch.cat([encoder(pixels) for encoder in self.encoders], dim=-1)
        tokens = self.projector(features).unflatten(0, images.shape[:2]) + self.places
        return tokens.flatten(1, 2)
