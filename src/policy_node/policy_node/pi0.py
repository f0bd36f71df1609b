"""pi0: flow matching by an action expert that shares attention with a vision-language model.

Source: Black et al., "pi0: A Vision-Language-Action Flow Model for General Robot Control", 2024.
As published: two transformers with separate weights and shared attention; three blocks of tokens
(images and instruction; the robot's state; the noisy actions with their time), each of which
attends to itself and to the blocks before it; times drawn from a beta distribution that favours
noisy ones; ten Euler steps.

Implementation of the shared attention: since the first block does not attend to the others, the
vision-language model runs once for all Euler steps, and the keys and values of its layers are
cached. The action expert, which has the same number of layers and heads of the same width, attends
to the cache and to its own tokens. This is equivalent to shared attention, and needs only public
interfaces of Gemma in transformers.

Differences: two cameras and 13 joints. As in the source, the last layer's outputs for images and
instruction are not used. Memory tokens are part of the language input, see language.py.
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
from vq_memory_node.memory import MemoryShape

PERIODS = (4e-3, 4.0)
"""Shortest and longest period of the sinusoids of time (0 to 1), as in the authors' code."""


def block_mask(mask: Tensor, blocks: Tensor, queries: int) -> Tensor:
    """Return the block-wise causal attention mask (B, queries, n), True where a query attends.

    Args:
        mask: (B, n) bool, True where there is a token.
        blocks: (n,) block number of each token, ascending.
        queries: number of queries, which are the last tokens.
    """
    earlier = blocks[None, :] <= blocks[-queries:, None]  # (queries, n)
    return earlier[None] & mask[:, None, :]


class Pi0(VisionLanguageNetwork):
    """The pi0 network. Its language model must be Gemma."""

    def __init__(self, config: Pi0Config, memory: MemoryShape) -> None:
        super().__init__()
        self.model = VisionLanguage(config, memory)
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
        prefix, mask = self.model(batch)
        cache = DynamicCache()
        prefix_blocks = torch.zeros(prefix.shape[1], device=prefix.device)
        self.model.text(
            inputs_embeds=prefix,
            attention_mask=additive_mask(
                block_mask(mask, prefix_blocks, len(prefix_blocks)), prefix
            ),
            position_ids=positions(mask),
            past_key_values=cache,
            use_cache=True,
        )

        def predict(noisy: Tensor, time: Tensor) -> Tensor:
            actions = self.action(noisy)
            waves = sinusoids(time, actions.shape[2], *PERIODS)[:, None].expand_as(actions)
            actions = self.timed(torch.cat([actions, waves], 2))
            suffix = torch.cat([self.state(batch.joints[:, -1:]), actions], 1)
            full_mask = torch.cat([mask, mask.new_ones(suffix.shape[:2])], 1)
            suffix_blocks = torch.tensor([1] + [2] * CHUNK, device=suffix.device)
            blocks = torch.cat([suffix_blocks.new_zeros(mask.shape[1]), suffix_blocks])
            count = len(suffix_blocks)
            hidden = self.expert(
                inputs_embeds=suffix,
                attention_mask=additive_mask(block_mask(full_mask, blocks, count), suffix),
                position_ids=positions(full_mask)[:, -count:],
                past_key_values=cache,
                use_cache=True,
            ).last_hidden_state
            cache.crop(-count)  # remove the keys and values that the expert added
            return self.out(hidden[:, -CHUNK:])

        return predict


def _expert(text: Any, config: Pi0Config) -> Any:
    """Return the action expert, without embeddings, for a Gemma of the configuration `text`."""
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
