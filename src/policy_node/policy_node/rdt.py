"""RDT: a diffusion transformer that looks at language and pictures in turn.

Source: Liu et al., "RDT-1B: a Diffusion Foundation Model for Bimanual Manipulation", 2024. Kept:
the step, the robot's state and the noisy chunk are one sequence; each block attends to itself, then
to the language (even blocks) or to the pictures (odd ones); RMSNorm, and RMSNorm of queries and
keys; the network predicts the sample.

Where it differs: one arm and hand, 13 numbers, instead of a space of 128 for many robots; no token
for the control rate, which is always 10 Hz; pictures of the present instant alone; adaptors of two
layers; fixed sinusoids as places of the words; no dropping of conditions in training; DDIM instead
of DPM-Solver++, which with 5 steps of 1000 begins at step 800 and not at the last: pure noise is
put in where training had a tenth of the actions' variance. The memory is part of the language, see
language.py.
"""

import torch
from torch import Tensor, nn

from policy_node.attention import Attention, StepEmbedding, perceptron, sinusoids
from policy_node.backbones import make_backbone, resolved
from policy_node.batches import Batch
from policy_node.configs_vla import RdtConfig
from policy_node.language import Words
from policy_node.policy import CHUNK
from policy_node.schedules import Diffusion
from policy_node.sight_and_words import Reader, added, make_vision, resolve
from policy_node.vision import Vision
from rulesafe_core.joints import ACTION_JOINTS
from vq_memory_node.memory import MemoryShape

JOINTS = len(ACTION_JOINTS)


class Block(nn.Module):
    """Attention to itself, attention to a condition, perceptron; each added to what was."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.RMSNorm(width) for _ in range(3))
        self.itself = Attention(width, heads, nn.RMSNorm)
        self.condition = Attention(width, heads, nn.RMSNorm)
        self.perceptron = perceptron(width, width, width)

    def forward(self, x: Tensor, condition: Tensor, mask: Tensor | None) -> Tensor:
        """(B, n, width) from the same and a condition (B, m, width) with its mask (B, m)."""
        normed = self.norms[0](x)
        x = x + self.itself(normed, normed)
        x = x + self.condition(self.norms[1](x), condition, mask)
        return x + self.perceptron(self.norms[2](x))


class Rdt(Reader):
    """The network; see Network for what it does."""

    def __init__(self, config: RdtConfig, memory: MemoryShape) -> None:
        """Errors: RuleSafeError as `make_backbone`, and for a memory that has no room."""
        super().__init__()
        width = config.width
        self.language = make_backbone(config.language)
        language = resolved(config.language, self.language)
        table = self.language.get_input_embeddings()
        self.read = Words(table, memory, shipped=not config.pieces)
        self.from_language = perceptron(table.embedding_dim, width, width)
        self.vision = make_vision(config, width)
        self.config: RdtConfig = resolve(config, language, self.vision)
        self.step = StepEmbedding(width)
        self.state = perceptron(JOINTS, width, width)
        self.action = perceptron(JOINTS, width, width)
        self.places = nn.Parameter(0.02 * torch.randn(2 + CHUNK, width))
        self.blocks = nn.ModuleList(Block(width, config.heads) for _ in range(config.depth))
        self.norm = nn.RMSNorm(width)
        self.out = perceptron(width, width, JOINTS)
        self._diffusion = Diffusion(config.train_steps, config.sample_steps, config.prediction)

    def loss(self, batch: Batch) -> Tensor:
        """See Network."""
        assert batch.actions is not None
        return self._diffusion.loss(self._predictor(batch), batch.actions)

    def sample(self, batch: Batch, generator: torch.Generator | None = None) -> Tensor:
        """See Network."""
        shape = (len(batch), CHUNK, JOINTS)
        predict = self._predictor(batch)
        return self._diffusion.sample(predict, shape, batch.joints.device, generator)

    def eyes(self) -> Vision:
        """See Reader."""
        return self.vision

    def parts(self) -> dict[str, nn.Module]:
        """See Network."""
        denoiser = [self.step, self.state, self.action, self.blocks, self.norm, self.out]
        return {
            "language": self.language,
            "words of the memory": self.read,
            "vision": self.vision,
            "adaptor of language": self.from_language,
            "diffusion transformer": nn.ModuleList([*denoiser, nn.ParameterList([self.places])]),
        }

    def _predictor(self, batch: Batch) -> "_Predictor":
        words, mask = self.read(batch, self.language.get_input_embeddings())
        seen_by_all = added(mask[:, None].expand(-1, mask.shape[1], -1), words)
        read = self.language(inputs_embeds=words, attention_mask=seen_by_all).last_hidden_state
        read = self.from_language(read)
        order = torch.arange(read.shape[1], device=read.device)
        # Counted from the first word: padding before it shifts nothing.
        places = (order - mask.int().argmax(1, keepdim=True)).clamp(min=0)
        read = read + sinusoids(places, read.shape[2])
        seen = self.vision(batch)
        state = self.state(batch.joints[:, -1:])
        return _Predictor(self, state, ((read, mask), (seen, None)))


class _Predictor:
    """One batch's conditions, computed once for all steps of the diffusion."""

    def __init__(
        self, network: Rdt, state: Tensor, conditions: tuple[tuple[Tensor, Tensor | None], ...]
    ) -> None:
        self.network, self.state, self.conditions = network, state, conditions

    def __call__(self, noisy: Tensor, step: Tensor) -> Tensor:
        network = self.network
        x = torch.cat([network.step(step)[:, None], self.state, network.action(noisy)], 1)
        x = x + network.places
        for number, block in enumerate(network.blocks):
            x = block(x, *self.conditions[number % 2])
        return network.out(network.norm(x[:, -CHUNK:]))
