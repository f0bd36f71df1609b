"""Settings of the networks that process images and the instruction; no torch here.

The sizes called base are the published ones. Their `weights` are empty, so that such a network can
be described without any file; `from_weights` gives the same network starting from published ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from policy_node.configs import EncoderConfig, NetworkConfig
from rulesafe_core.errors import RuleSafeError

SHIPPED_TOKENS = 512
"""Tokens of the shipped tokenizer (language.py), padding included."""

VOCABULARY = 1024
"""V of a language model that is trained from scratch: the tokens of the shipped tokenizer, and room
for a memory's tokens at the tail: 512, twice as many as VQ-Memory has codes before merging."""

IMAGE_SIDE = 224
"""Side of the images in the data, pixels."""

POINTS = 256
"""N of the point clouds that a scene encoder receives."""

Prediction = Literal["sample", "epsilon"]
"""What a diffusion network predicts: the clean actions, or the noise in them."""


@dataclass(frozen=True)
class Backbone:
    """A language model or vision encoder: a small one from scratch, or a published one.

    Attributes:
        kind: conv: a small convolutional network (vision.py). Else a model of the library
            transformers by its model_type; backbones.KINDS lists them.
        sizes: arguments of its configuration. Ignored if `weights` are given, which have their own.
        weights: folder, or name on the Hugging Face hub, that it starts from; empty: random.
        download: whether a name on the hub may be fetched. Otherwise only local files.
        trained: whether its weights are trained, or frozen.
    """

    kind: str
    sizes: dict[str, Any] = field(default_factory=dict)
    weights: str = ""
    download: bool = False
    trained: bool = True


@dataclass(frozen=True)
class VisionLanguageConfig(NetworkConfig):
    """What the three families observe, and their backbones.

    Attributes:
        language: the language model.
        vision: vision encoders, whose features of a patch are concatenated. None at all: the
            language backbone is a vision-language model that has its own, or images are not used.
        pieces: the tokenizer: empty: the shipped one; else folder or hub's name, as `weights`.
        encoder: name or file of a scene encoder, which is frozen; its features are one token
            before those of images. In a checkpoint its shape. None: no point cloud is used, as
            published.
    """

    language: Backbone
    vision: tuple[Backbone, ...] = ()
    pieces: str = ""
    encoder: str | EncoderConfig | None = None

    def __post_init__(self) -> None:
        """Accepts plain dicts, as JSON has them, for backbones and encoder."""
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
    def picture(self) -> int:
        if not self.images:
            return 0
        if not self.vision or any(tower.kind != "conv" for tower in self.vision):
            return IMAGE_SIDE
        sides = [int(tower.sizes["size"]) for tower in self.vision]
        kept = max(sides)
        # Only shrinking by area gives the same image at once and in two steps.
        divides = IMAGE_SIDE % kept == 0 and all(kept % side == 0 for side in sides)
        return kept if divides else IMAGE_SIDE


def _backbone(value: Any) -> Backbone:
    return value if isinstance(value, Backbone) else Backbone(**value)


@dataclass(frozen=True)
class RdtConfig(VisionLanguageConfig):
    """An RDT (policy_node.rdt).

    Attributes:
        width: of the transformer.
        depth: its blocks; even ones attend to the language, odd ones to the images.
        heads: of each attention.
        prediction: what it predicts.
        train_steps: of the diffusion.
        sample_steps: of them taken at inference.
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
        width: of the diffusion transformer.
        depth: its blocks.
        heads: of each attention.
        drop: share of training samples in which the cognition is left out.
        guidance: at inference, factor on the difference to the prediction without the cognition;
            1: none.
        repeats: noises that each sample is trained with at once; the vision-language model, the
            costly part, runs once for all of them.
        prediction: what it predicts.
        train_steps: of the diffusion.
        sample_steps: of them taken at inference.
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
        width: of the action expert; its depth, heads and their width are the language model's,
            with which it shares attention.
        hidden: width of the action expert's MLPs.
        sample_steps: Euler's, at inference.
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
"""base: RDT-1B with T5 v1.1 XXL and SigLIP so400m at 384 pixels, both frozen."""

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
"""base: Llama 2 7B with DINOv2 and SigLIP, and the diffusion transformer called DiT-Base."""

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
"""base: PaliGemma 3B at 224 pixels, and an action expert of 300 million parameters."""

# Images of a hundred demonstrations do not suffice to learn the safe's pose to the millimetre, and
# cameras are mounted differently in each episode, so that tiny networks use a scene encoder only.
RDT_SIZES["small"] = replace(RDT_SIZES["tiny"], vision=(_SMALL_VISION,))
COGACT_SIZES["small"] = replace(COGACT_SIZES["tiny"], vision=(_SMALL_VISION,))
PI0_SIZES["small"] = replace(PI0_SIZES["tiny"], vision=(_SMALL_VISION,))


def from_weights(
    config: NetworkConfig, weights: Sequence[str], download: bool = False
) -> NetworkConfig:
    """Return a configuration whose backbones start from published weights.

    Args:
        config: such as RDT_SIZES["base"].
        weights: folders or names on the Hugging Face hub: of the language model, beside which its
            tokenizer is, then of each vision encoder, in the order of `config.vision`.
        download: whether names on the hub may be fetched.

    Errors: RuleSafeError if there are not as many as the configuration has backbones to load.
    """
    kinds = published(config)
    if len(weights) != len(kinds):
        asked = ", ".join(kinds) or "none, all of it starts at random"
        raise RuleSafeError(f"{len(weights)} weights are named; this network takes: {asked}")
    if not isinstance(config, VisionLanguageConfig) or not kinds:
        return config
    read, *towers = (
        replace(backbone, weights=name, download=download)
        for backbone, name in zip((config.language, *config.vision), weights, strict=False)
    )
    return replace(config, language=read, vision=tuple(towers), pieces=weights[0])


def published(config: NetworkConfig) -> list[str]:
    """Return the kinds of the backbones that have published weights, in the order of
    `from_weights`; none for a network that is trained from scratch."""
    if not isinstance(config, VisionLanguageConfig):
        return []
    kinds = [config.language.kind, *(tower.kind for tower in config.vision)]
    return [] if config.encoder or "conv" in kinds else kinds
