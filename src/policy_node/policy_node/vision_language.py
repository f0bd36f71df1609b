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
    """A network with a language model and one `Vision` module.

    Attributes:
        config: configuration that creates the network without the files of pretrained weights.
    """

    config: VisionLanguageConfig

    def built(self, config: NetworkConfig) -> NetworkConfig:
        return self.config

    def scene_encoder(self) -> SceneEncoder | None:
        (vision,) = (part for part in self.modules() if isinstance(part, Vision))
        return vision.scene

    def token_ids(self, instruction: str) -> list[int]:
        ids = tokenize(instruction, self.config.pieces, self.config.language.download)
        return ids or [0]  # attention needs at least one token, even if the instruction is empty


class VisionLanguage(nn.Module):
    """A language model with its own vision encoder (PaliGemma) or with separate ones.

    Attributes:
        text: the language model.
        vision: encodes scene features and images as tokens.
        tokens: embeds instruction and memory as tokens.
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
                f"the language model {config.language.kind!r} has no vision encoder; set `vision` "
                "or `encoder` of the configuration"
            )
        self.tokens = TokenEmbedding(self.text.embed_tokens, memory, shipped=not config.pieces)

    def resolved(self, config: Config) -> Config:
        """Return the configuration that creates the same parts without files of weights."""
        return resolve(config, self._language, self.vision)

    def parts(self) -> dict[str, nn.Module]:
        """Return the parts that `rulesafe policy describe` lists."""
        return {"language": self.text, "vision": self.vision, "memory tokens": self.tokens}

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Return embeddings (B, n, width) of scene features, images, instruction and memory, and
        their mask (B, n) bool, True where there is a token."""
        vision = self.vision(batch)
        language, mask = self.tokens(batch, self.text.embed_tokens)
        vision_mask = torch.ones(vision.shape[:2], dtype=torch.bool, device=vision.device)
        return torch.cat([vision, language], 1), torch.cat([vision_mask, mask], 1)


def make_vision(config: VisionLanguageConfig, width: int) -> Vision:
    """Return the vision module of a configuration, for a language model without vision encoder."""
    return Vision([make_vision_encoder(b) for b in config.vision], width, scene=_scene(config))


def _scene(config: VisionLanguageConfig) -> SceneEncoder | None:
    return make_encoder(config.encoder) if config.encoder else None


def resolve(config: Config, language: Backbone, vision: Vision) -> Config:
    """Return `config` without files of pretrained weights: with this language backbone and with
    the configurations of the loaded encoders of `vision`."""
    pairs = zip(config.vision, vision.encoders, strict=False)
    encoders = tuple(
        resolved(backbone, part.model) if isinstance(part, PublishedEncoder) else backbone
        for backbone, part in pairs
    )
    scene = vision.scene.config if vision.scene else None
    return replace(config, language=language, vision=encoders, encoder=scene)


def positions(mask: Tensor) -> Tensor:
    """Return positions (B, n) int64 of tokens with a mask (B, n), not counting masked tokens."""
    return (mask.long().cumsum(1) - 1).clamp(min=0)


MASKED = -3e4
"""Attention logit of masked tokens. It is finite in half precision, so that a query whose tokens
are all masked does not give NaN."""


def additive_mask(visible: Tensor, like: Tensor) -> Tensor:
    """Return the additive attention mask (B, 1, queries, n) for models of transformers.

    Args:
        visible: (B, queries, n) bool, True where the query attends to the token.
        like: a tensor of the dtype and on the device of the mask.
    """
    zeros = torch.zeros(visible.shape, dtype=like.dtype, device=like.device)
    return zeros.masked_fill(~visible, MASKED)[:, None]
