"""What a vision-language model is given: what is seen, then the instruction, then the memory."""

from abc import abstractmethod
from dataclasses import replace
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from policy_node.backbones import make_backbone, resolved
from policy_node.batches import Batch, Network
from policy_node.configs import NetworkConfig
from policy_node.configs_vla import Backbone, SightAndWords
from policy_node.language import Words, word_ids
from policy_node.scene_encoder import SceneEncoder, make_encoder
from policy_node.vision import PublishedTower, Vision, make_tower
from rulesafe_core.errors import RuleSafeError
from vq_memory_node.memory import MemoryShape

Config = TypeVar("Config", bound=SightAndWords)


class Reader(Network):
    """A network that sees and reads.

    Attributes:
        config: what makes it again, without files that parts of it were loaded from.
    """

    config: SightAndWords

    def built(self, config: NetworkConfig) -> NetworkConfig:
        """See Network."""
        return self.config

    @abstractmethod
    def eyes(self) -> Vision:
        """What it sees with."""

    def sight(self) -> nn.Module | None:
        """See Network."""
        return self.eyes().scene

    def words(self, instruction: str) -> list[int]:
        """See Network."""
        ids = word_ids(instruction, self.config.pieces, self.config.language.download)
        return ids or [0]  # something to attend to, even where nothing was said


class VisionLanguage(nn.Module):
    """A language model that sees: its own eyes (PaliGemma), or encoders beside it.

    Attributes:
        text: the language model.
        vision: both pictures as its tokens.
        words: instruction and memory as its tokens.
    """

    def __init__(self, config: SightAndWords, memory: MemoryShape) -> None:
        super().__init__()
        model = make_backbone(config.language)
        self._language = resolved(config.language, model)
        if config.language.kind == "paligemma" and not config.vision:
            self.text: Any = model.language_model
            eyes = [PublishedTower(model.vision_tower)]
            width = self.text.config.hidden_size
            self.vision = Vision(eyes, width, model.multi_modal_projector, _scene(config))
        elif config.vision or config.encoder:
            self.text = model
            self.vision = make_vision(config, model.config.hidden_size)
        else:
            raise RuleSafeError(f"{config.language.kind} has no eyes: name encoders of pictures")
        self.words = Words(self.text.embed_tokens, memory, shipped=not config.pieces)

    def resolved(self, config: Config) -> Config:
        """The configuration that makes the same parts without the files they were loaded from."""
        return resolve(config, self._language, self.vision)

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Embeddings (B, n, width) of all there is to see and read; (B, n) bool, True where there
        is something."""
        seen = self.vision(batch)
        read, mask = self.words(batch, self.text.embed_tokens)
        there = torch.ones(seen.shape[:2], dtype=torch.bool, device=seen.device)
        return torch.cat([seen, read], 1), torch.cat([there, mask], 1)


def make_vision(config: SightAndWords, width: int) -> Vision:
    """Eyes beside the language model. Errors: RuleSafeError as `make_tower` and `make_encoder`."""
    return Vision([make_tower(tower) for tower in config.vision], width, scene=_scene(config))


def _scene(config: SightAndWords) -> SceneEncoder | None:
    return make_encoder(config.encoder) if config.encoder else None


def resolve(config: Config, language: Backbone, vision: Vision) -> Config:
    """`config` with the resolved language backbone, and towers with the sizes they have."""
    pairs = zip(config.vision, vision.towers, strict=False)
    towers = tuple(
        resolved(backbone, tower.model) if isinstance(tower, PublishedTower) else backbone
        for backbone, tower in pairs
    )
    encoder = vision.scene.config if vision.scene else None
    return replace(config, language=language, vision=towers, encoder=encoder)


def positions(mask: Tensor) -> Tensor:
    """(B, n) int64: places counted over what is there; what is masked shifts nothing."""
    return (mask.long().cumsum(1) - 1).clamp(min=0)


UNSEEN = -3e4
"""What is added to a product with a token that is not to be seen: nothing is left of it, and half
precision can hold it, so that a masked token, which sees nothing, becomes no NaN."""


def added(seen: Tensor, like: Tensor) -> Tensor:
    """(B, 1, queries, n) for a model of transformers, of the type of `like`, to add to the products
    of queries and keys. `seen` (B, queries, n) is True where the query may look."""
    nothing = torch.zeros(seen.shape, dtype=like.dtype, device=like.device)
    return nothing.masked_fill(~seen, UNSEEN)[:, None]
