"""Settings of the vision-language-action networks (RDT, CogACT, pi0); without torch.

The networks are small and trained from scratch. Policies that are fine-tuned from published weights
run on a server (`openpi://HOST:PORT`).
"""

from dataclasses import dataclass, replace
from typing import Any

from policy_node.configs import EncoderConfig, NetworkConfig
from rulesafe_core.cameras import DEFAULT_CAMERAS

SHIPPED_TOKENS = 512
"""Vocabulary size of the shipped tokenizer (language.py), including padding."""

VOCABULARY = 1024
"""V, the vocabulary size of the language models: the tokens of the shipped tokenizer, then 512 ids
for memory tokens, twice the number of VQ-Memory codes before merging."""

IMAGE_SIDE = 224
"""Side length of the images in datasets, pixels."""

POINTS = 256
"""Number of points of the point clouds that a scene encoder receives."""


@dataclass(frozen=True)
class LanguageConfig:
    """A language model of the library transformers, with random weights.

    Attributes:
        kind: one of vision_language.MODELS.
        sizes: arguments of the model's configuration.
    """

    kind: str
    sizes: dict[str, Any]


@dataclass(frozen=True)
class ImageEncoderConfig:
    """A convolutional image encoder (policy_node.vision).

    Attributes:
        size: side length to which images are resized, pixels.
        channels: channels of each layer, multiples of 8.
    """

    size: int = 112
    channels: tuple[int, ...] = (16, 32, 64, 128)


@dataclass(frozen=True)
class VisionLanguageConfig(NetworkConfig):
    """Inputs of the three families.

    Attributes:
        language: the language model.
        vision: the image encoder; None: images are not used.
        encoder: name or file of a pretrained, frozen scene encoder; its features are one token
            before those of images. In a checkpoint: the encoder's configuration. None: no point
            cloud is used, as published.
        cameras: names of the cameras of the images.
    """

    language: LanguageConfig
    vision: ImageEncoderConfig | None = None
    encoder: str | EncoderConfig | None = None
    cameras: tuple[str, ...] = DEFAULT_CAMERAS.names

    @property
    def points(self) -> int:
        return POINTS if self.encoder else 0

    @property
    def images(self) -> bool:
        return self.vision is not None

    @property
    def instruction(self) -> bool:
        return True

    def with_cameras(self, names: tuple[str, ...]) -> NetworkConfig:
        return replace(self, cameras=names)

    @property
    def cloud_frames(self) -> int:
        return 1 if self.encoder else 0

    @property
    def image_size(self) -> int:
        if self.vision is None:
            return 0
        # Resizing in two steps gives the same image only where areas are averaged.
        return IMAGE_SIDE if IMAGE_SIDE % self.vision.size else self.vision.size


@dataclass(frozen=True)
class RdtConfig(VisionLanguageConfig):
    """An RDT (policy_node.rdt).

    Attributes:
        width: width of the diffusion transformer.
        depth: number of its blocks; even ones attend to the language, odd ones to the images.
        heads: number of attention heads.
        train_steps: number of diffusion steps in training.
        sample_steps: number of diffusion steps at inference.
    """

    width: int = 128
    depth: int = 4
    heads: int = 4
    train_steps: int = 1000
    sample_steps: int = 5


@dataclass(frozen=True)
class CogActConfig(VisionLanguageConfig):
    """A CogACT (policy_node.cogact).

    Attributes:
        width: width of the diffusion transformer.
        depth: number of its blocks.
        heads: number of attention heads.
        drop: fraction of training samples whose condition is dropped, for classifier-free guidance.
        guidance: scale of classifier-free guidance at inference; 1: no guidance.
        repeats: number of noise samples for each training sample; the vision-language model, the
            most expensive part, runs once for all of them.
        train_steps: number of diffusion steps in training.
        sample_steps: number of diffusion steps at inference.
    """

    width: int = 128
    depth: int = 3
    heads: int = 4
    drop: float = 0.1
    guidance: float = 1.5
    repeats: int = 2
    train_steps: int = 100
    sample_steps: int = 10


@dataclass(frozen=True)
class Pi0Config(VisionLanguageConfig):
    """A pi0 (policy_node.pi0). Its language model is Gemma.

    Attributes:
        width: width of the action expert. Its depth, number of heads and head width are those of
            the language model, with which it shares attention.
        hidden: width of the action expert's MLPs.
        sample_steps: number of Euler steps at inference.
    """

    width: int = 128
    hidden: int = 256
    sample_steps: int = 10


_VOCABULARY = {"vocab_size": VOCABULARY, "pad_token_id": 0}
_ROTARY = _VOCABULARY | {
    "hidden_size": 128,
    "intermediate_size": 256,
    "num_attention_heads": 4,
    "num_key_value_heads": 1,
    "head_dim": 32,
}
_T5 = {"d_model": 128, "d_kv": 32, "d_ff": 256, "num_layers": 2, "num_heads": 4}

RDT_SIZES = {
    "tiny": RdtConfig(
        LanguageConfig("t5", _VOCABULARY | _T5 | {"feed_forward_proj": "gated-gelu"}),
        encoder="ten_safes",
    ),
}
COGACT_SIZES = {
    "tiny": CogActConfig(
        LanguageConfig("llama", _ROTARY | {"num_hidden_layers": 2}), encoder="ten_safes"
    ),
}
PI0_SIZES = {
    "tiny": Pi0Config(
        LanguageConfig("gemma", _ROTARY | {"num_hidden_layers": 3}), encoder="ten_safes"
    ),
}
"""Configurations by size. A hundred demonstrations have too few images to learn the safe's pose to
the millimetre, and the cameras' poses vary between episodes. Therefore tiny networks use only a
pretrained scene encoder."""

# Recordings of a real robot often have images only.
RDT_SIZES["images"] = replace(RDT_SIZES["tiny"], vision=ImageEncoderConfig(), encoder=None)
COGACT_SIZES["images"] = replace(COGACT_SIZES["tiny"], vision=ImageEncoderConfig(), encoder=None)
PI0_SIZES["images"] = replace(PI0_SIZES["tiny"], vision=ImageEncoderConfig(), encoder=None)
