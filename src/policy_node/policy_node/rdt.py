"""RDT: a diffusion transformer with alternating cross-attention to language and images.

Source: Liu et al., "RDT-1B: a Diffusion Foundation Model for Bimanual Manipulation", 2024. As
published: the diffusion step, the robot's state and the noisy chunk are one sequence; each block
has self-attention, then cross-attention to the language (even blocks) or the images (odd blocks);
RMSNorm, also of queries and keys; the network predicts the sample.

Differences: 13 joints of one arm and hand, instead of a unified space of 128 dimensions for many
robots; no token for the control rate, which is always 10 Hz; images of the current frame only;
adaptors of two layers; fixed sinusoidal position embeddings; conditions are not dropped in
training; DDIM instead of DPM-Solver++. With 5 of 1000 steps, DDIM begins at step 800 instead of the
last: there the network receives pure noise, while in training a tenth of the actions' variance
remains at this step. Memory tokens are part of the language input, see language.py.
"""

import torch
from torch import Tensor, nn

from policy_node.attention import Attention, StepEmbedding, mlp, sinusoids
from policy_node.batches import Batch
from policy_node.configs_vla import RdtConfig
from policy_node.language import TokenEmbedding
from policy_node.policy import CHUNK
from policy_node.schedules import JOINTS, Diffusion, Predict
from policy_node.vision import Vision
from policy_node.vision_language import VisionLanguageNetwork, additive_mask, make_language_model
from vq_memory_node.memory import MemoryShape


class RdtBlock(nn.Module):
    """Self-attention, cross-attention to a condition, and MLP, with residual connections."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.RMSNorm(width) for _ in range(3))
        self.itself = Attention(width, heads, nn.RMSNorm)
        self.condition = Attention(width, heads, nn.RMSNorm)
        self.mlp = mlp(width, width, width)

    def forward(self, x: Tensor, condition: Tensor, mask: Tensor | None) -> Tensor:
        """Return (B, n, width) for tokens x (B, n, width), condition (B, m, width), mask (B, m)."""
        normed = self.norms[0](x)
        x = x + self.itself(normed, normed)
        x = x + self.condition(self.norms[1](x), condition, mask)
        return x + self.mlp(self.norms[2](x))


class Rdt(VisionLanguageNetwork):
    """The RDT network."""

    def __init__(self, config: RdtConfig, memory: MemoryShape) -> None:
        super().__init__()
        width = config.width
        self.language = make_language_model(config.language)
        table = self.language.get_input_embeddings()
        self.tokens = TokenEmbedding(table, memory)
        self.from_language = mlp(table.embedding_dim, width, width)
        self.vision = Vision(config, width)
        self.step = StepEmbedding(width)
        self.state = mlp(JOINTS, width, width)
        self.action = mlp(JOINTS, width, width)
        self.places = nn.Parameter(0.02 * torch.randn(2 + CHUNK, width))
        self.blocks = nn.ModuleList(RdtBlock(width, config.heads) for _ in range(config.depth))
        self.norm = nn.RMSNorm(width)
        self.out = mlp(width, width, JOINTS)
        self.schedule = Diffusion(config.train_steps, config.sample_steps)

    def parts(self) -> dict[str, nn.Module]:
        denoiser = [self.step, self.state, self.action, self.blocks, self.norm, self.out]
        return {
            "language": self.language,
            "memory tokens": self.tokens,
            "vision": self.vision,
            "language adaptor": self.from_language,
            "diffusion transformer": nn.ModuleList([*denoiser, nn.ParameterList([self.places])]),
        }

    def predictor(self, batch: Batch) -> Predict:
        tokens, mask = self.tokens(batch, self.language.get_input_embeddings())
        visible = additive_mask(mask[:, None].expand(-1, mask.shape[1], -1), tokens)
        language = self.language(inputs_embeds=tokens, attention_mask=visible).last_hidden_state
        language = self.from_language(language)
        order = torch.arange(language.shape[1], device=language.device)
        # Counted from the first token, so that padding in front does not shift positions.
        places = (order - mask.int().argmax(1, keepdim=True)).clamp(min=0)
        language = language + sinusoids(places, language.shape[2])
        conditions = ((language, mask), (self.vision(batch), None))
        state = self.state(batch.joints[:, -1:])

        def predict(noisy: Tensor, step: Tensor) -> Tensor:
            x = torch.cat([self.step(step)[:, None], state, self.action(noisy)], 1)
            x = x + self.places
            for number, block in enumerate(self.blocks):
                x = block(x, *conditions[number % 2])
            return self.out(self.norm(x[:, -CHUNK:]))

        return predict
