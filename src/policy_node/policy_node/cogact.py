"""CogACT: a vision-language model thinks one token, and a diffusion transformer acts on it.

Source: Li et al., "CogACT: A Foundational Vision-Language-Action Model for Synergizing Cognition
and Action in Robotic Manipulation", 2024. Kept: a learned token after pictures and words, whose
last hidden state is the cognition; it and the diffusion's step, added, are the first token of a
transformer over the noisy chunk; classifier-free guidance (Ho and Salimans, 2022); several noises
for each pass of the vision-language model.

Where it differs: the robot's state is a token of the transformer too, since the targets are joint
positions and the other families see it; the chunk is 50 actions instead of 16, without the
ensemble of old chunks; of the encoders of pictures the last layer is taken, not the one before, and
a perceptron of two layers, not three, maps it; a cognition is left out for all noises of a sample
at once; at tiny size the network predicts the sample. The memory is part of the language, see
language.py.
"""

import torch
from torch import Tensor, nn

from policy_node.attention import Attention, StepEmbedding, perceptron
from policy_node.batches import Batch
from policy_node.configs_vla import CogActConfig
from policy_node.policy import CHUNK
from policy_node.schedules import Diffusion
from policy_node.sight_and_words import Reader, VisionLanguage, added, positions
from policy_node.vision import Vision
from rulesafe_core.joints import ACTION_JOINTS
from vq_memory_node.memory import MemoryShape

JOINTS = len(ACTION_JOINTS)


class Block(nn.Module):
    """Attention to itself and a perceptron, each added to what was; after Vaswani et al., 2017."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(width, elementwise_affine=False) for _ in range(2))
        self.itself = Attention(width, heads)
        self.perceptron = perceptron(width, 4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        normed = self.norms[0](x)
        x = x + self.itself(normed, normed)
        return x + self.perceptron(self.norms[1](x))


class ActionTransformer(nn.Module):
    """Predicts from a noisy chunk, under a cognition or without.

    Attributes:
        nothing: what stands for no cognition, learned.
    """

    def __init__(self, config: CogActConfig, features: int) -> None:
        super().__init__()
        width = config.width
        self.nothing = nn.Parameter(0.02 * torch.randn(features))
        self.cognition = nn.Linear(features, width)
        self.step = StepEmbedding(width)
        self.state = nn.Linear(JOINTS, width)
        self.action = nn.Linear(JOINTS, width)
        self.places = nn.Parameter(0.02 * torch.randn(2 + CHUNK, width))
        self.blocks = nn.Sequential(*(Block(width, config.heads) for _ in range(config.depth)))
        self.norm = nn.LayerNorm(width, elementwise_affine=False)
        self.out = nn.Linear(width, JOINTS)

    def forward(self, noisy: Tensor, step: Tensor, cognition: Tensor, joints: Tensor) -> Tensor:
        """(B, 50, 13) from the same, steps (B,), cognitions (B, features), joints (B, 13)."""
        first = self.cognition(cognition) + self.step(step)
        x = torch.cat([first[:, None], self.state(joints)[:, None], self.action(noisy)], 1)
        return self.out(self.norm(self.blocks(x + self.places)[:, -CHUNK:]))


class CogAct(Reader):
    """The network; see Network for what it does."""

    def __init__(self, config: CogActConfig, memory: MemoryShape) -> None:
        """Errors: RuleSafeError as `make_backbone`, and for a memory that has no room."""
        super().__init__()
        self.model = VisionLanguage(config, memory)
        self.config: CogActConfig = self.model.resolved(config)
        features = self.model.text.config.hidden_size
        self.thought = nn.Parameter(0.02 * torch.randn(features))
        self.actions = ActionTransformer(config, features)
        self._diffusion = Diffusion(config.train_steps, config.sample_steps, config.prediction)

    def loss(self, batch: Batch) -> Tensor:
        """See Network."""
        assert batch.actions is not None
        cognition = self.cognition(batch)
        dropped = torch.rand(len(cognition), 1, device=cognition.device) < self.config.drop
        cognition = torch.where(dropped, self.actions.nothing, cognition)
        repeats = self.config.repeats
        cognition = cognition.repeat_interleave(repeats, 0)
        joints = batch.joints[:, -1].repeat_interleave(repeats, 0)

        def predict(noisy: Tensor, step: Tensor) -> Tensor:
            return self.actions(noisy, step, cognition, joints)

        return self._diffusion.loss(predict, batch.actions.repeat_interleave(repeats, 0))

    def sample(self, batch: Batch, generator: torch.Generator | None = None) -> Tensor:
        """See Network."""
        cognition, joints = self.cognition(batch), batch.joints[:, -1]

        def predict(noisy: Tensor, step: Tensor) -> Tensor:
            return self.guided(noisy, step, cognition, joints)

        shape = (len(batch), CHUNK, JOINTS)
        return self._diffusion.sample(predict, shape, batch.joints.device, generator)

    def cognition(self, batch: Batch) -> Tensor:
        """(B, features): the last hidden state of the token that stands behind all the others."""
        given, mask = self.model(batch)
        x = torch.cat([given, self.thought.expand(len(given), 1, -1)], 1)
        mask = torch.cat([mask, mask.new_ones(len(mask), 1)], 1)
        order = torch.arange(x.shape[1], device=x.device)
        before = order[None, :] <= order[:, None]
        told = self.model.text(
            inputs_embeds=x,
            attention_mask=added(before & mask[:, None], x),
            position_ids=positions(mask),
            use_cache=False,
        )
        return told.last_hidden_state[:, -1]

    def guided(self, noisy: Tensor, step: Tensor, cognition: Tensor, joints: Tensor) -> Tensor:
        """The prediction (B, 50, 13), `guidance` times as far from that without a cognition."""
        without = self.actions.nothing.expand_as(cognition)
        both = self.actions(
            torch.cat([noisy, noisy]),
            torch.cat([step, step]),
            torch.cat([cognition, without]),
            torch.cat([joints, joints]),
        )
        under, free = both.chunk(2)
        return free + self.config.guidance * (under - free)

    def eyes(self) -> Vision:
        """See Reader."""
        return self.model.vision

    def parts(self) -> dict[str, nn.Module]:
        """See Network."""
        return {
            "language": self.model.text,
            "vision": self.model.vision,
            "words of the memory": self.model.words,
            "cognition token": nn.ParameterList([self.thought]),
            "diffusion transformer": self.actions,
        }
