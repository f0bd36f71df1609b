"""CogACT: a vision-language model computes one token, the condition of a diffusion transformer.

Source: Li et al., "CogACT: A Foundational Vision-Language-Action Model for Synergizing Cognition
and Action in Robotic Manipulation", 2024. As published: a learned token follows images and
instruction, and its last hidden state is the cognition; the sum of the cognition and of the
embedded diffusion step is the first token of a transformer over the noisy chunk; classifier-free
guidance (Ho and Salimans, 2022); several noise samples for each pass of the vision-language model.

Differences: the transformer also has a token of the robot's state, since the targets are joint
positions and the other families receive it; chunks have 50 actions instead of 16, without adaptive
ensembling; vision features are those of the last layer instead of the one before, projected by an
MLP of two layers instead of three; the cognition is dropped for all noise samples of a training
sample at once; the network predicts the sample. Memory tokens are part of the language
input, see language.py.
"""

import torch
from torch import Tensor, nn

from policy_node.attention import Attention, StepEmbedding, mlp
from policy_node.batches import Batch
from policy_node.configs_vla import CogActConfig
from policy_node.policy import CHUNK
from policy_node.schedules import JOINTS, Diffusion, Predict
from policy_node.vision_language import (
    VisionLanguage,
    VisionLanguageNetwork,
    additive_mask,
    positions,
)
from vq_memory_node.memory import MemoryShape


class CogActBlock(nn.Module):
    """Self-attention and an MLP, each added to its input; after Vaswani et al., 2017."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(width, elementwise_affine=False) for _ in range(2))
        self.itself = Attention(width, heads)
        self.mlp = mlp(width, 4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        normed = self.norms[0](x)
        x = x + self.itself(normed, normed)
        return x + self.mlp(self.norms[1](x))


class ActionTransformer(nn.Module):
    """The diffusion transformer: predicts from a noisy chunk and a condition, the cognition.

    Attributes:
        nothing: learned vector that replaces a dropped cognition.
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
        self.blocks = nn.Sequential(
            *(CogActBlock(width, config.heads) for _ in range(config.depth))
        )
        self.norm = nn.LayerNorm(width, elementwise_affine=False)
        self.out = nn.Linear(width, JOINTS)

    def forward(self, noisy: Tensor, step: Tensor, cognition: Tensor, joints: Tensor) -> Tensor:
        """Return the prediction (B, 50, 13) for noisy actions (B, 50, 13), diffusion steps (B,),
        cognitions (B, features) and joint positions (B, 13)."""
        first = self.cognition(cognition) + self.step(step)
        x = torch.cat([first[:, None], self.state(joints)[:, None], self.action(noisy)], 1)
        return self.out(self.norm(self.blocks(x + self.places)[:, -CHUNK:]))


class CogAct(VisionLanguageNetwork):
    """The CogACT network."""

    def __init__(self, config: CogActConfig, memory: MemoryShape) -> None:
        super().__init__()
        self.model = VisionLanguage(config, memory)
        self.config = config
        features = self.model.text.config.hidden_size
        self.query = nn.Parameter(0.02 * torch.randn(features))
        self.actions = ActionTransformer(config, features)
        self.schedule = Diffusion(config.train_steps, config.sample_steps)

    def loss(self, batch: Batch) -> Tensor:
        assert batch.actions is not None
        cognition = self.cognition(batch)
        dropped = torch.rand(len(cognition), 1, device=cognition.device) < self.config.drop
        cognition = torch.where(dropped, self.actions.nothing, cognition)
        repeats = self.config.repeats
        cognition = cognition.repeat_interleave(repeats, 0)
        joints = batch.joints[:, -1].repeat_interleave(repeats, 0)

        def predict(noisy: Tensor, step: Tensor) -> Tensor:
            return self.actions(noisy, step, cognition, joints)

        return self.schedule.loss(predict, batch.actions.repeat_interleave(repeats, 0))

    def predictor(self, batch: Batch) -> Predict:
        cognition, joints = self.cognition(batch), batch.joints[:, -1]
        return lambda noisy, step: self.guided(noisy, step, cognition, joints)

    def cognition(self, batch: Batch) -> Tensor:
        """Return the cognition (B, features): the last hidden state of the learned token."""
        prefix, mask = self.model(batch)
        x = torch.cat([prefix, self.query.expand(len(prefix), 1, -1)], 1)
        mask = torch.cat([mask, mask.new_ones(len(mask), 1)], 1)
        order = torch.arange(x.shape[1], device=x.device)
        causal = order[None, :] <= order[:, None]
        output = self.model.text(
            inputs_embeds=x,
            attention_mask=additive_mask(causal & mask[:, None], x),
            position_ids=positions(mask),
            use_cache=False,
        )
        return output.last_hidden_state[:, -1]

    def guided(self, noisy: Tensor, step: Tensor, cognition: Tensor, joints: Tensor) -> Tensor:
        """Return the prediction (B, 50, 13) with classifier-free guidance."""
        without = self.actions.nothing.expand_as(cognition)
        both = self.actions(
            torch.cat([noisy, noisy]),
            torch.cat([step, step]),
            torch.cat([cognition, without]),
            torch.cat([joints, joints]),
        )
        conditional, unconditional = both.chunk(2)
        return unconditional + self.config.guidance * (conditional - unconditional)

    def parts(self) -> dict[str, nn.Module]:
        token = nn.ParameterList([self.query])
        own = {"cognition token": token, "diffusion transformer": self.actions}
        return self.model.parts() | own
