"""The input of a vision-language model: scene features and images, then instruction and memory.

Language models are those of the library transformers, version 5: before, Gemma scaled all input
embeddings instead of those of its tokens only.
"""

from dataclasses import replace
from typing import Any

import torch
import transformers
from torch import Tensor, nn

from policy_node.batches import Batch
from policy_node.configs import NetworkConfig
from policy_node.configs_vla import LanguageConfig, VisionLanguageConfig
from policy_node.language import TokenEmbedding, tokenize
from policy_node.scene_encoder import SceneEncoder
from policy_node.schedules import DenoisingNetwork
from policy_node.vision import Vision
from vq_memory_node.memory import MemoryShape

MODELS = {"t5": "T5EncoderModel", "gemma": "GemmaModel", "llama": "LlamaModel"}
"""The class of each kind of language model."""

NO_DROPOUT = {"t5": {"dropout_rate": 0.0}}
"""Settings that disable dropout, so that the output depends on the input only."""


def make_language_model(config: LanguageConfig) -> Any:
    """Return a language model with random weights, without dropout, in float32."""
    model = getattr(transformers, MODELS[config.kind])
    return model(model.config_class(**config.sizes | NO_DROPOUT.get(config.kind, {}))).float()


class VisionLanguageNetwork(DenoisingNetwork):
    """A network with a language model and one `Vision` module."""

    def built(self, config: NetworkConfig) -> NetworkConfig:
        assert isinstance(config, VisionLanguageConfig)
        scene = self.scene_encoder()
        return replace(config, encoder=scene.config if scene else None)

    def scene_encoder(self) -> SceneEncoder | None:
        (vision,) = (part for part in self.modules() if isinstance(part, Vision))
        return vision.scene

    def token_ids(self, instruction: str) -> list[int]:
        # Attention needs at least one token, even if the instruction is empty.
        return tokenize(instruction) or [0]


class VisionLanguage(nn.Module):
    """A language model and its input.

    Attributes:
        text: the language model.
        vision: encodes scene features and images as tokens.
        tokens: embeds instruction and memory as tokens.
    """

    def __init__(self, config: VisionLanguageConfig, memory: MemoryShape) -> None:
        super().__init__()
        self.text = make_language_model(config.language)
        self.vision = Vision(config, self.text.config.hidden_size)
        self.tokens = TokenEmbedding(self.text.embed_tokens, memory)

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
