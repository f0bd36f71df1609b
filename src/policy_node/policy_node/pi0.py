"""pi0: flow matching by an action expert that shares attention with a vision-language model.

Source: Black et al., "pi0: A Vision-Language-Action Flow Model for General Robot Control", 2024.
Kept: two transformers with weights of their own and one attention; three blocks of tokens, each of
which sees itself whole and those before it: pictures and words, the robot's state, the noisy
actions with their time; times drawn from a beta distribution, most of them noisy; ten Euler steps.

How attention is shared: since the first block sees nothing of the others, the vision-language
model runs first, once for all steps, and leaves its keys and values layer by layer in a cache. The
expert, with as many layers and heads of the same width, attends to them and to its own. That is
the same attention, by public interfaces of transformers' Gemma alone.

Where it differs: two cameras, 13 numbers; the last layer's tokens of pictures and words go nowhere,
as in the source. The memory is part of the language, see language.py.
"""

from typing import Any

import torch
from torch import Tensor, nn
from transformers import DynamicCache, GemmaModel

from policy_node.attention import sinusoids
from policy_node.batches import Batch
from policy_node.configs_vla import Pi0Config
from policy_node.policy import CHUNK
from policy_node.schedules import FlowMatching
from policy_node.sight_and_words import Reader, VisionLanguage, added, positions
from policy_node.vision import Vision
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS
from vq_memory_node.memory import MemoryShape

JOINTS = len(ACTION_JOINTS)
PERIODS = (4e-3, 4.0)
"""Shortest and longest period of the sinusoids of time, which runs from 0 to 1; as published in the
authors' code."""


def block_mask(given: Tensor, blocks: Tensor, queries: int) -> Tensor:
    """Who sees whom: (B, queries, n) bool, True where the query sees the token.

    Args:
        given: (B, n) bool, True where there is a token.
        blocks: (n,) the number of the block that each token is in, ascending.
        queries: only the last so many tokens look.
    """
    earlier = blocks[None, :] <= blocks[-queries:, None]  # (queries, n)
    return earlier[None] & given[:, None, :]


class Pi0(Reader):
    """The network; see Network for what it does."""

    def __init__(self, config: Pi0Config, memory: MemoryShape) -> None:
        """Errors: RuleSafeError as `make_backbone`, for a memory that has no room, and for a
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
        self._flow = FlowMatching(config.sample_steps)

    def loss(self, batch: Batch) -> Tensor:
        """See Network."""
        assert batch.actions is not None
        return self._flow.loss(_Predictor(self, batch), batch.actions)

    def sample(self, batch: Batch, generator: torch.Generator | None = None) -> Tensor:
        """See Network."""
        shape = (len(batch), CHUNK, JOINTS)
        return self._flow.sample(_Predictor(self, batch), shape, batch.joints.device, generator)

    def eyes(self) -> Vision:
        """See Reader."""
        return self.model.vision

    def parts(self) -> dict[str, nn.Module]:
        """See Network."""
        return {
            "language": self.model.text,
            "vision": self.model.vision,
            "words of the memory": self.model.words,
            "action expert": self.expert,
            "adaptors": nn.ModuleList([self.state, self.action, self.timed, self.out]),
        }


class _Predictor:
    """One batch's pictures and words, read once for all times of the flow."""

    def __init__(self, network: Pi0, batch: Batch) -> None:
        self.network, self.joints = network, batch.joints[:, -1:]
        prefix, self.given = network.model(batch)
        self.cache = DynamicCache()
        blocks = torch.zeros(prefix.shape[1], device=prefix.device)
        network.model.text(
            inputs_embeds=prefix,
            attention_mask=added(block_mask(self.given, blocks, len(blocks)), prefix),
            position_ids=positions(self.given),
            past_key_values=self.cache,
            use_cache=True,
        )

    def __call__(self, noisy: Tensor, time: Tensor) -> Tensor:
        network = self.network
        actions = network.action(noisy)
        waves = sinusoids(time, actions.shape[2], *PERIODS)[:, None].expand_as(actions)
        actions = network.timed(torch.cat([actions, waves], 2))
        suffix = torch.cat([network.state(self.joints), actions], 1)
        given = torch.cat([self.given, self.given.new_ones(suffix.shape[:2])], 1)
        own = torch.tensor([1] + [2] * CHUNK, device=suffix.device)
        blocks = torch.cat([own.new_zeros(self.given.shape[1]), own])
        found = network.expert(
            inputs_embeds=suffix,
            attention_mask=added(block_mask(given, blocks, len(own)), suffix),
            position_ids=positions(given)[:, -len(own) :],
            past_key_values=self.cache,
            use_cache=True,
        ).last_hidden_state
        self.cache.crop(-len(own))  # what the expert added
        return network.out(found[:, -CHUNK:])


def _expert(text: Any, config: Pi0Config) -> Any:
    """The action expert beside a Gemma of the configuration `text`; it embeds no words."""
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
