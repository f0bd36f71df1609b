"""The input of a vision-language model: scene features and images, then instruction and memory."""

from dataclasses import replace
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from policy_node.backbones import make_backbone, resolved
from policy_node.batches import Batch
from policy_node.configs import NetworkConfig
from policy_node.configs_vla import Backbone, VisionLanguageConfig
from policy_node.language import TokenEmbedding, tokenize
from policy_node.scene_encoder import SceneEncoder, make_encoder
from policy_node.schedules import DenoisingNetwork
from policy_node.vision import PublishedEncoder, Vision, make_vision_encoder
from rulesafe_core.errors import RuleSafeError
from vq_memory_node.memory import MemoryShape

Config = TypeVar("Config", bound=VisionLanguageConfig)


class VisionLanguageNetwork(DenoisingNetwork):
    """A network with one `Vision` among its parts, and a language model.

    Attributes:
        config: makes the network again, without files that parts of it were loaded from.
    """

    config: VisionLanguageConfig

    def built(self, config: NetworkConfig) -> NetworkConfig:
        return self.config

    def scene_encoder(self) -> SceneEncoder | None:
        (vision,) = (part for part in self.modules() if isinstance(part, Vision))
        return vision.scene

    def token_ids(self, instruction: str) -> list[int]:
        ids = tokenize(instruction, self.config.pieces, self.config.language.download)
        return ids or [0]  # something to attend to, even if the instruction is empty


class VisionLanguage(nn.Module):
    """A language model with its own vision encoder (PaliGemma), or with encoders beside it.

    Attributes:
        text: the language model.
        vision: scene and images as tokens.
        tokens: instruction and memory as tokens.
    """

    def __init__(self, config: VisionLanguageConfig, memory: MemoryShape) -> None:
        super().__init__()
        model = make_backbone(config.language)
        self._language = resolved(config.language, model)
        if config.language.kind == "paligemma" and not config.vision:
            self.text: Any = model.language_model
            encoders = [PublishedEncoder(model.vision_tower)]
            width = self.text.config.hidden_size
            self.vision = Vision(encoders, width, model.multi_modal_projector, _scene(config))
        elif config.vision or config.encoder:
            self.text = model
            self.vision = make_vision(config, model.config.hidden_size)
        else:
            raise RuleSafeError(
                f"{config.language.kind} has no vision encoder: set `vision` or `encoder`"
            )
        self.tokens = TokenEmbedding(self.text.embed_tokens, memory, shipped=not config.pieces)

    def resolved(self, config: Config) -> Config:
        """Return the configuration that makes the same parts without the files they were loaded
        from."""
        return resolve(config, self._language, self.vision)

    def parts(self) -> dict[str, nn.Module]:
        """Return the parts that a description lists."""
        return {"language": self.text, "vision": self.vision, "tokens of the memory": self.tokens}

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Return embeddings (B, n, width) of scene, images, instruction and memory; (B, n) bool,
        True where there is a token."""
        seen = self.vision(batch)
        read, mask = self.tokens(batch, self.text.embed_tokens)
        there = torch.ones(seen.shape[:2], dtype=torch.bool, device=seen.device)
        return torch.cat([seen, read], 1), torch.cat([there, mask], 1)


def make_vision(config: VisionLanguageConfig, width: int) -> Vision:
    """Make vision encoders beside a language model. Errors: RuleSafeError as `make_vision_encoder`
    and `make_encoder`."""
    return Vision([make_vision_encoder(b) for b in config.vision], width, scene=_scene(config))


def _scene(config: VisionLanguageConfig) -> SceneEncoder | None:
    return make_encoder(config.encoder) if config.encoder else None


def resolve(config: Config, language: Backbone, vision: Vision) -> Config:
    """Return `config` with the resolved language backbone, and vision encoders with the sizes they
    have."""
    pairs = zip(config.vision, vision.encoders, strict=False)
    encoders = tuple(
        resolved(backbone, part.model) if isinstance(part, PublishedEncoder) else backbone
        for backbone, part in pairs
    )
    scene = vision.scene.config if vision.scene else None
    return replace(config, language=language, vision=encoders, encoder=scene)


def positions(mask: Tensor) -> Tensor:
    """Return (B, n) int64: positions counted over the tokens that are not masked."""
    return (mask.long().cumsum(1) - 1).clamp(min=0)


MASKED = -3e4
"""Added to the product with a masked token: its weight is 0. Half precision can represent it, so
that a row whose tokens are all masked gives no NaN."""


def additive_mask(visible: Tensor, like: Tensor) -> Tensor:
    """Return the mask (B, 1, queries, n) that models of transformers add to the products of queries
    and keys, in the type of `like`.

    Args:
        visible: (B, queries, n) bool, True where the query attends to the token.
    """
    zeros = torch.zeros(visible.shape, dtype=like.dtype, device=like.device)
    return zeros.masked_fill(~visible, MASKED)[:, None]
