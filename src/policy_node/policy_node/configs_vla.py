"""Settings of the vision-language-action networks (RDT, CogACT, pi0); without torch.

The sizes called base are the published ones. Their `weights` are empty, so that such a network can
be described without any file; `from_weights` returns the same network with pretrained weights.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from policy_node.configs import EncoderConfig, NetworkConfig
from rulesafe_core.errors import RuleSafeError

SHIPPED_TOKENS = 512
"""Vocabulary size of the shipped tokenizer (language.py), including padding."""

VOCABULARY = 1024
"""V, the vocabulary size of a language model that is trained from scratch: the tokens of the
shipped tokenizer, then 512 ids for memory tokens, twice the number of VQ-Memory codes before
merging."""

IMAGE_SIDE = 224
"""Side length of the images in datasets, pixels."""

POINTS = 256
"""Number of points of the point clouds that a scene encoder receives."""

Prediction = Literal["sample", "epsilon"]
"""What a diffusion network predicts: the clean actions, or the noise in them."""


@dataclass(frozen=True)
class Backbone:
    """A language model or vision encoder: a small one from scratch, or a pretrained one.

    Attributes:
        kind: "conv" for a small convolutional network (vision.py), or the model_type of a model in
            transformers; backbones.KINDS lists them.
        sizes: arguments of the model's configuration. Ignored if `weights` are given: these have a
            configuration.
        weights: folder, or name on the Hugging Face hub, of pretrained weights; empty: random.
        download: whether weights may be downloaded from the hub. False: local files only.
        trained: whether its weights are trained; False: they are frozen.
    """

    kind: str
    sizes: dict[str, Any] = field(default_factory=dict)
    weights: str = ""
    download: bool = False
    trained: bool = True


@dataclass(frozen=True)
class VisionLanguageConfig(NetworkConfig):
    """Inputs and backbones of the three families.

    Attributes:
        language: the language model.
        vision: vision encoders, whose features are concatenated patch by patch. Empty: the
            language backbone is a vision-language model with its own vision encoder, or images are
            not used.
        pieces: folder or Hugging Face name of the tokenizer; empty: the shipped tokenizer.
        encoder: name or file of a pretrained, frozen scene encoder; its features are one token
            before those of images. In a checkpoint: the encoder's configuration. None: no point
            cloud is used, as published.
    """

    language: Backbone
    vision: tuple[Backbone, ...] = ()
    pieces: str = ""
    encoder: str | EncoderConfig | None = None

    def __post_init__(self) -> None:
        """Convert dicts, as read from JSON, to Backbones and an EncoderConfig."""
        object.__setattr__(self, "language", _backbone(self.language))
        if isinstance(self.encoder, dict):
            object.__setattr__(self, "encoder", EncoderConfig(**self.encoder))
        object.__setattr__(self, "vision", tuple(_backbone(tower) for tower in self.vision))

    @property
    def points(self) -> int:
        return POINTS if self.encoder else 0

    @property
    def images(self) -> bool:
        return bool(self.vision) or self.language.kind == "paligemma"

    @property
    def instruction(self) -> bool:
        return True

    @property
    def cloud_frames(self) -> int:
        return 1 if self.encoder else 0

    @property
    def image_size(self) -> int:
        if not self.images:
            return 0
        if not self.vision or any(tower.kind != "conv" for tower in self.vision):
            return IMAGE_SIDE
        sides = [int(tower.sizes["size"]) for tower in self.vision]
        largest = max(sides)
        # Resizing in two steps gives the same image only where areas are averaged.
        divides = IMAGE_SIDE % largest == 0 and all(largest % side == 0 for side in sides)
        return largest if divides else IMAGE_SIDE


def _backbone(value: Any) -> Backbone:
    return value if isinstance(value, Backbone) else Backbone(**value)


@dataclass(frozen=True)
class RdtConfig(VisionLanguageConfig):
    """An RDT (policy_node.rdt).

    Attributes:
        width: width of the diffusion transformer.
        depth: number of its blocks; even ones attend to the language, odd ones to the images.
        heads: number of attention heads.
        prediction: what the network predicts: the sample or the noise.
        train_steps: number of diffusion steps in training.
        sample_steps: number of diffusion steps at inference.
    """

    width: int = 128
    depth: int = 4
    heads: int = 4
    prediction: Prediction = "sample"
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
        prediction: what the network predicts: the sample or the noise.
        train_steps: number of diffusion steps in training.
        sample_steps: number of diffusion steps at inference.
    """

    width: int = 128
    depth: int = 3
    heads: int = 4
    drop: float = 0.1
    guidance: float = 1.5
    repeats: int = 2
    prediction: Prediction = "sample"
    train_steps: int = 100
    sample_steps: int = 10


@dataclass(frozen=True)
class Pi0Config(VisionLanguageConfig):
    """A pi0 (policy_node.pi0).

    Attributes:
        width: width of the action expert. Its depth, number of heads and head width are those of
            the language model, with which it shares attention.
        hidden: width of the action expert's MLPs.
        sample_steps: number of Euler steps at inference.
    """

    width: int = 128
    hidden: int = 256
    sample_steps: int = 10


_SMALL_VISION = Backbone("conv", {"size": 112, "channels": [16, 32, 64, 128]})
_SMALL_VOCABULARY = {"vocab_size": VOCABULARY, "pad_token_id": 0}
_SMALL_ROTARY = _SMALL_VOCABULARY | {
    "hidden_size": 128,
    "intermediate_size": 256,
    "num_attention_heads": 4,
    "num_key_value_heads": 1,
    "head_dim": 32,
}
_SIGLIP = {
    "hidden_size": 1152,
    "intermediate_size": 4304,
    "num_hidden_layers": 27,
    "num_attention_heads": 16,
    "patch_size": 14,
    "vision_use_head": False,
}

RDT_SIZES = {
    "tiny": RdtConfig(
        Backbone(
            "t5",
            _SMALL_VOCABULARY
            | {"d_model": 128, "d_kv": 32, "d_ff": 256, "num_layers": 2, "num_heads": 4}
            | {"feed_forward_proj": "gated-gelu"},
        ),
        encoder="ten_safes",
    ),
    "base": RdtConfig(
        Backbone(
            "t5",
            {"vocab_size": 32128, "d_model": 4096, "d_kv": 64, "d_ff": 10240}
            | {"num_layers": 24, "num_heads": 64, "feed_forward_proj": "gated-gelu"},
            trained=False,
        ),
        (Backbone("siglip_vision_model", _SIGLIP | {"image_size": 384}, trained=False),),
        width=2048,
        depth=28,
        heads=32,
    ),
}
"""Configurations of RDT by size; base: RDT-1B with frozen T5 v1.1 XXL and frozen SigLIP so400m at
384 pixels."""

COGACT_SIZES = {
    "tiny": CogActConfig(
        Backbone("llama", _SMALL_ROTARY | {"num_hidden_layers": 2}), encoder="ten_safes"
    ),
    "base": CogActConfig(
        Backbone(
            "llama",
            {"vocab_size": 32064, "hidden_size": 4096, "intermediate_size": 11008}
            | {"num_hidden_layers": 32, "num_attention_heads": 32},
        ),
        (
            Backbone(
                "dinov2_with_registers",
                {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16}
                | {"patch_size": 14, "image_size": 518, "num_register_tokens": 4},
            ),
            Backbone("siglip_vision_model", _SIGLIP | {"image_size": 224}),
        ),
        width=768,
        depth=12,
        heads=12,
        repeats=8,
        prediction="epsilon",
    ),
}
"""Configurations of CogACT by size; base: Llama 2 7B with DINOv2 and SigLIP, and the diffusion
transformer DiT-Base."""

PI0_SIZES = {
    "tiny": Pi0Config(
        Backbone("gemma", _SMALL_ROTARY | {"num_hidden_layers": 3}), encoder="ten_safes"
    ),
    "base": Pi0Config(
        Backbone(
            "paligemma",
            {
                "projection_dim": 2048,
                "vision_config": _SIGLIP | {"model_type": "siglip_vision_model", "image_size": 224},
                "text_config": {
                    "model_type": "gemma",
                    "vocab_size": 257216,
                    "hidden_size": 2048,
                    "intermediate_size": 16384,
                    "num_hidden_layers": 18,
                    "num_attention_heads": 8,
                    "num_key_value_heads": 1,
                    "head_dim": 256,
                },
            },
        ),
        width=1024,
        hidden=4096,
    ),
}
"""Configurations of pi0 by size; base: PaliGemma 3B at 224 pixels, and an action expert with 300
million parameters."""

# A hundred demonstrations have too few images to learn the safe's pose to the millimetre, and the
# cameras' poses vary between episodes. Therefore tiny networks use only a pretrained scene encoder.
RDT_SIZES["small"] = replace(RDT_SIZES["tiny"], vision=(_SMALL_VISION,))
COGACT_SIZES["small"] = replace(COGACT_SIZES["tiny"], vision=(_SMALL_VISION,))
PI0_SIZES["small"] = replace(PI0_SIZES["tiny"], vision=(_SMALL_VISION,))
# Recordings of a real robot often have images only.
RDT_SIZES["images"] = replace(RDT_SIZES["small"], encoder=None)
COGACT_SIZES["images"] = replace(COGACT_SIZES["small"], encoder=None)
PI0_SIZES["images"] = replace(PI0_SIZES["small"], encoder=None)


def from_weights(
    config: NetworkConfig, weights: Sequence[str], download: bool = False
) -> NetworkConfig:
    """Return a configuration whose backbones start from pretrained weights.

    Args:
        config: such as RDT_SIZES["base"].
        weights: folders or names on the Hugging Face hub: of the language model with its
            tokenizer, then of each vision encoder, in the order of `config.vision`.
        download: whether weights may be downloaded from the hub.

    Raises:
        RuleSafeError: the number of weights is not the number of pretrained backbones.
    """
    kinds = published(config)
    if len(weights) != len(kinds):
        expected = ", ".join(kinds) or "none, it is trained from random weights"
        raise RuleSafeError(f"{len(weights)} weights given; this network takes: {expected}")
    if not isinstance(config, VisionLanguageConfig) or not kinds:
        return config
    language, *towers = (
        replace(backbone, weights=name, download=download)
        for backbone, name in zip((config.language, *config.vision), weights, strict=False)
    )
    return replace(config, language=language, vision=tuple(towers), pieces=weights[0])


def published(config: NetworkConfig) -> list[str]:
    """Return the kinds of the backbones that have pretrained weights, in the order of
    `from_weights`; empty for a network that is trained from scratch."""
    if not isinstance(config, VisionLanguageConfig):
        return []
    kinds = [config.language.kind, *(tower.kind for tower in config.vision)]
    return [] if config.encoder or "conv" in kinds else kinds
