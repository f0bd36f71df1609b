"""RDT: a diffusion transformer that attends to language and images in turn.

Source: Liu et al., "RDT-1B: a Diffusion Foundation Model for Bimanual Manipulation", 2024. As
published: the step, the robot's state and the noisy chunk are one sequence; each block attends to
itself, then to the language (even blocks) or to the images (odd ones); RMSNorm, and RMSNorm of
queries and keys; the network predicts the sample.

Differences: one arm and hand, 13 numbers, instead of a space of 128 for many robots; no token for
the control rate, which is always 10 Hz; images of the present instant only; adaptors of two layers;
fixed sinusoids as positions of the tokens; no dropping of conditions in training; DDIM instead of
DPM-Solver++, which with 5 steps of 1000 begins at step 800 and not at the last: it receives pure
noise where training had a tenth of the actions' variance. The memory is part of the language, see
language.py.
"""

import torch
from torch import Tensor, nn

from policy_node.attention import Attention, StepEmbedding, mlp, sinusoids
from policy_node.backbones import make_backbone, resolved
from policy_node.batches import Batch
from policy_node.configs_vla import RdtConfig
from policy_node.language import TokenEmbedding
from policy_node.policy import CHUNK
from policy_node.schedules import JOINTS, Diffusion, Predict
from policy_node.vision_language import (
    VisionLanguageNetwork,
    additive_mask,
    make_vision,
    resolve,
)
from vq_memory_node.memory import MemoryShape


class RdtBlock(nn.Module):
    """Self-attention, attention to a condition, MLP; each added to its input."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.RMSNorm(width) for _ in range(3))
        self.itself = Attention(width, heads, nn.RMSNorm)
        self.condition = Attention(width, heads, nn.RMSNorm)
        self.mlp = mlp(width, width, width)

    def forward(self, x: Tensor, condition: Tensor, mask: Tensor | None) -> Tensor:
        """Return (B, n, width) for the same and a condition (B, m, width) with its mask (B, m)."""
        normed = self.norms[0](x)
        x = x + self.itself(normed, normed)
        x = x + self.condition(self.norms[1](x), condition, mask)
        return x + self.mlp(self.norms[2](x))


class Rdt(VisionLanguageNetwork):
    """The network."""

    def __init__(self, config: RdtConfig, memory: MemoryShape) -> None:
        """Errors: RuleSafeError as `make_backbone`, and for a memory that does not fit."""
        super().__init__()
        width = config.width
        self.language = make_backbone(config.language)
        language = resolved(config.language, self.language)
        table = self.language.get_input_embeddings()
        self.tokens = TokenEmbedding(table, memory, shipped=not config.pieces)
        self.from_language = mlp(table.embedding_dim, width, width)
        self.vision = make_vision(config, width)
        self.config: RdtConfig = resolve(config, language, self.vision)
        self.step = StepEmbedding(width)
        self.state = mlp(JOINTS, width, width)
        self.action = mlp(JOINTS, width, width)
        self.places = nn.Parameter(0.02 * torch.randn(2 + CHUNK, width))
        self.blocks = nn.ModuleList(RdtBlock(width, config.heads) for _ in range(config.depth))
        self.norm = nn.RMSNorm(width)
        self.out = mlp(width, width, JOINTS)
        self.schedule = Diffusion(config.train_steps, config.sample_steps, config.prediction)

    def parts(self) -> dict[str, nn.Module]:
        denoiser = [self.step, self.state, self.action, self.blocks, self.norm, self.out]
        return {
            "language": self.language,
            "tokens of the memory": self.tokens,
            "vision": self.vision,
            "adaptor of language": self.from_language,
            "diffusion transformer": nn.ModuleList([*denoiser, nn.ParameterList([self.places])]),
        }

    def predictor(self, batch: Batch) -> Predict:
        tokens, mask = self.tokens(batch, self.language.get_input_embeddings())
        visible = additive_mask(mask[:, None].expand(-1, mask.shape[1], -1), tokens)
        read = self.language(inputs_embeds=tokens, attention_mask=visible).last_hidden_state
        read = self.from_language(read)
        order = torch.arange(read.shape[1], device=read.device)
        # Counted from the first token: padding before it shifts nothing.
        places = (order - mask.int().argmax(1, keepdim=True)).clamp(min=0)
        read = read + sinusoids(places, read.shape[2])
        conditions = ((read, mask), (self.vision(batch), None))
        state = self.state(batch.joints[:, -1:])

        def predict(noisy: Tensor, step: Tensor) -> Tensor:
            x = torch.cat([self.step(step)[:, None], state, self.action(noisy)], 1)
            x = x + self.places
            for number, block in enumerate(self.blocks):
                x = block(x, *conditions[number % 2])
            return self.out(self.norm(x[:, -CHUNK:]))

        return predict
