"""Parts of transformers over actions, for all families. Shapes: (B, tokens, width)."""

import math

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention


class Attention(nn.Module):
    """Attention with several heads, of a sequence to itself or to another.

    Args:
        width: of tokens, a multiple of `heads`.
        heads: number of heads.
        head_norm: normalisation of each head's queries and keys, made from its width; an
            nn.RMSNorm keeps their products bounded (QK-norm, Henry et al., 2020).
    """

    def __init__(self, width: int, heads: int, head_norm: type[nn.Module] = nn.Identity) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width)
        self.key_value = nn.Linear(width, 2 * width)
        self.query_norm = head_norm(width // heads)
        self.key_norm = head_norm(width // heads)
        self.out = nn.Linear(width, width)

    def forward(self, x: Tensor, context: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return (B, n, width) of x (B, n, width) attending to `context` (B, m, width).

        `mask` (B, m) is True where there is a token; at least one True in each row.
        """
        query = self._split(self.query(x))
        key, value = (self._split(part) for part in self.key_value(context).chunk(2, dim=-1))
        where = None if mask is None else mask[:, None, None, :]
        found = scaled_dot_product_attention(
            self.query_norm(query), self.key_norm(key), value, attn_mask=where
        )
        return self.out(found.transpose(1, 2).flatten(2))

    def _split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)  # (B, heads, n, width of a head)


def mlp(width: int, hidden: int, out: int) -> nn.Sequential:
    """Return two layers with GELU between them."""
    return nn.Sequential(
        nn.Linear(width, hidden), nn.GELU(approximate="tanh"), nn.Linear(hidden, out)
    )


def sinusoids(
    values: Tensor, width: int, shortest: float = 2 * math.pi, longest: float = 2e4 * math.pi
) -> Tensor:
    """Return (..., width): sines and cosines of `values` (...) with periods from shortest to
    longest, evenly spaced in the logarithm. The defaults are those of Vaswani et al., 2017. Width
    is even."""
    ratios = torch.linspace(0, 1, width // 2, device=values.device)
    periods = shortest * (longest / shortest) ** ratios
    angles = values[..., None] * (2 * math.pi / periods)
    return torch.cat([angles.sin(), angles.cos()], dim=-1)


class StepEmbedding(nn.Module):
    """Maps the step of a diffusion (B,) to (B, width): sinusoids, then two layers."""

    def __init__(self, width: int, waves: int = 256) -> None:
        super().__init__()
        self.waves = waves
        self.layers = nn.Sequential(nn.Linear(waves, width), nn.SiLU(), nn.Linear(width, width))

    def forward(self, step: Tensor) -> Tensor:
        return self.layers(sinusoids(step.float(), self.waves))
