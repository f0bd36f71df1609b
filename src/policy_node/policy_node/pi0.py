"""pi0: flow matching by an action expert that shares attention with a vision-language model.

Source: Black et al., "pi0: A Vision-Language-Action Flow Model for General Robot Control", 2024.
As published: two transformers with separate weights and shared attention; three blocks of tokens,
each of which attends to all of itself and to the blocks before it: images and instruction, the
robot's state, the noisy actions with their time; times drawn from a beta distribution, most of them
noisy; ten Euler steps.

How attention is shared: since the first block does not attend to the others, the vision-language
model runs first, once for all steps, and its keys and values are cached layer by layer. The expert,
with as many layers and heads of the same width, attends to them and to its own. That is the same
attention, with public interfaces of transformers' Gemma only.

Differences: two cameras, 13 numbers; the last layer's tokens of images and instruction are not
used, as in the source. The memory is part of the language, see language.py.
"""

from typing import Any

import torch
from torch import Tensor, nn
from transformers import DynamicCache, GemmaModel

from policy_node.attention import sinusoids
from policy_node.batches import Batch
from policy_node.configs_vla import Pi0Config
from policy_node.policy import CHUNK
from policy_node.schedules import JOINTS, FlowMatching, Predict
from policy_node.vision_language import (
    VisionLanguage,
    VisionLanguageNetwork,
    additive_mask,
    positions,
)
from rulesafe_core.errors import RuleSafeError
from vq_memory_node.memory import MemoryShape

PERIODS = (4e-3, 4.0)
"""Shortest and longest period of the sinusoids of time, which runs from 0 to 1; as published in the
authors' code."""


def block_mask(given: Tensor, blocks: Tensor, queries: int) -> Tensor:
    """Return (B, queries, n) bool, True where the query attends to the token.

    Args:
        given: (B, n) bool, True where there is a token.
        blocks: (n,) the number of the block that each token is in, ascending.
        queries: only the last so many tokens attend.
    """
    earlier = blocks[None, :] <= blocks[-queries:, None]  # (queries, n)
    return earlier[None] & given[:, None, :]


class Pi0(VisionLanguageNetwork):
    """The network."""

    def __init__(self, config: Pi0Config, memory: MemoryShape) -> None:
        """Errors: RuleSafeError as `make_backbone`, for a memory that does not fit, and for a
        language model other than Gemma."""
        super().__init__()
        self.model = VisionLanguage(config, memory)
        self.config: Pi0Config = self.model.resolved(config)
        self.expert = _expert(self.model.text.config, config)
        width = config.width
        self.state = nn.Linear(JOINTS, width)
        self.action = nn.Linear(JOINTS, width)
        self.timed = nn.Sequential(nn.Linear(2 * width, width), nn.SiLU(), nn.Linear(width, width))
        self.out = nn.Linear(width, JOINTS)
        self.schedule = FlowMatching(config.sample_steps)

    def parts(self) -> dict[str, nn.Module]:
        adaptors = nn.ModuleList([self.state, self.action, self.timed, self.out])
        return self.model.parts() | {"action expert": self.expert, "adaptors": adaptors}

    def predictor(self, batch: Batch) -> Predict:
        prefix, given = self.model(batch)
        cache = DynamicCache()
        prefix_blocks = torch.zeros(prefix.shape[1], device=prefix.device)
        self.model.text(
            inputs_embeds=prefix,
            attention_mask=additive_mask(
                block_mask(given, prefix_blocks, len(prefix_blocks)), prefix
            ),
            position_ids=positions(given),
            past_key_values=cache,
            use_cache=True,
        )

        def predict(noisy: Tensor, time: Tensor) -> Tensor:
            actions = self.action(noisy)
            waves = sinusoids(time, actions.shape[2], *PERIODS)[:, None].expand_as(actions)
            actions = self.timed(torch.cat([actions, waves], 2))
            suffix = torch.cat([self.state(batch.joints[:, -1:]), actions], 1)
            all_given = torch.cat([given, given.new_ones(suffix.shape[:2])], 1)
            own = torch.tensor([1] + [2] * CHUNK, device=suffix.device)
            blocks = torch.cat([own.new_zeros(given.shape[1]), own])
            found = self.expert(
                inputs_embeds=suffix,
                attention_mask=additive_mask(block_mask(all_given, blocks, len(own)), suffix),
                position_ids=positions(all_given)[:, -len(own) :],
                past_key_values=cache,
                use_cache=True,
            ).last_hidden_state
            cache.crop(-len(own))  # what the expert added
            return self.out(found[:, -CHUNK:])

        return predict


def _expert(text: Any, config: Pi0Config) -> Any:
    """Make the action expert beside a Gemma of the configuration `text`, without embeddings."""
    if text.model_type != "gemma":
        raise RuleSafeError(f"pi0 shares attention with gemma, not with {text.model_type}")
    expert: Any = GemmaModel(
        type(text)(
            vocab_size=1,
            pad_token_id=0,
            bos_token_id=None,
            eos_token_id=None,
            hidden_size=config.width,
            intermediate_size=config.hidden,
            num_hidden_layers=text.num_hidden_layers,
            num_attention_heads=text.num_attention_heads,
            num_key_value_heads=text.num_key_value_heads,
            head_dim=text.head_dim,
        )
    )
    expert.embed_tokens = None
    return expert
