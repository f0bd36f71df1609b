"""Encoding of scene features and images as tokens."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import avg_pool2d, interpolate

from policy_node.attention import mlp
from policy_node.batches import Batch
from policy_node.configs_vla import VisionLanguageConfig
from policy_node.scene_encoder import SceneEncoder, make_encoder
from rulesafe_core.errors import RuleSafeError


class ConvEncoder(nn.Module):
    """Maps images (B, 3, H, W), 0..1, to features (B, patches, features): convolutions of stride 2
    with group normalisation. A patch is 2^layers pixels wide.

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


class Vision(nn.Module):
    """Encodes scene features as one token, then the images of each camera as tokens.

    Args:
        config: configuration with a scene encoder, an image encoder or both.
        width: width of the tokens.

    Attributes:
        scene: the frozen scene encoder; None: no point cloud.
    """

    def __init__(self, config: VisionLanguageConfig, width: int) -> None:
        super().__init__()
        if not (config.vision or config.encoder):
            raise RuleSafeError("the network has no vision; set `vision` or `encoder`")
        encoders = []
        if config.vision:
            encoders.append(ConvEncoder(config.vision.size, config.vision.channels))
        # A list, so that weights have the names of checkpoints with several encoders.
        self.encoders = nn.ModuleList(encoders)
        self.scene: SceneEncoder | None = None
        if config.encoder:
            self.scene = make_encoder(config.encoder)
            self.from_scene = mlp(self.scene.features, width, width)
        for encoder in encoders:
            self.projector = mlp(encoder.features, width, width)
            # Embedding of camera and patch.
            self.places = nn.Parameter(torch.zeros(len(config.cameras), encoder.patches, width))

    def forward(self, batch: Batch) -> Tensor:
        """Return tokens (B, tokens, width)."""
        parts = [] if self.scene is None else [self.from_scene(batch.scene(self.scene))]
        parts += [self._images(encoder, batch.images) for encoder in self.encoders]
        return torch.cat(parts, dim=1)

    def _images(self, encoder: nn.Module, images: Tensor | None) -> Tensor:
        if images is None:
            raise ValueError("the batch has no images, which the network requires")
        pixels = images.flatten(0, 1).permute(0, 3, 1, 2).float() / 255
        tokens = self.projector(encoder(pixels)).unflatten(0, images.shape[:2]) + self.places
        return tokens.flatten(1, 2)
