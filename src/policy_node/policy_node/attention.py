"""Building blocks of transformers, for all families. Shapes: (B, tokens, width)."""

import math

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

WAVES = 256
"""Width of the sinusoidal embedding of a diffusion step."""


class Attention(nn.Module):
    """Multi-head self- or cross-attention.

    Args:
        width: width of the tokens, a multiple of `heads`.
        heads: number of heads.
        head_norm: class of the normalisation of each head's queries and keys, which is called with
            the head's width. nn.RMSNorm bounds their products (QK-norm, Henry et al., 2020).
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
        """Return (B, n, width): the tokens `x` (B, n, width) attend to `context` (B, m, width).

        Args:
            mask: (B, m) bool, True where `context` has a token; at least one in each row.
        """
        query = self._split(self.query(x))
        key, value = (self._split(part) for part in self.key_value(context).chunk(2, dim=-1))
        attn_mask = None if mask is None else mask[:, None, None, :]
        attended = scaled_dot_product_attention(
            self.query_norm(query), self.key_norm(key), value, attn_mask=attn_mask
        )
        return self.out(attended.transpose(1, 2).flatten(2))

    def _split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)  # (B, heads, n, head width)


def mlp(width: int, hidden: int, out: int) -> nn.Sequential:
    """Return an MLP of two linear layers with GELU between them."""
    return nn.Sequential(
        nn.Linear(width, hidden), nn.GELU(approximate="tanh"), nn.Linear(hidden, out)
    )


def sinusoids(
    values: Tensor, width: int, shortest: float = 2 * math.pi, longest: float = 2e4 * math.pi
) -> Tensor:
    """Return sinusoidal embeddings (..., width) of `values` (...), with an even width. The periods
    are log-spaced from `shortest` to `longest`, by default as in Vaswani et al., 2017."""
    ratios = torch.linspace(0, 1, width // 2, device=values.device)
    periods = shortest * (longest / shortest) ** ratios
    angles = values[..., None] * (2 * math.pi / periods)
    return torch.cat([angles.sin(), angles.cos()], dim=-1)


class StepEmbedding(nn.Module):
    """Embeds the diffusion step (B,) as (B, width): sinusoids, then an MLP."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(WAVES, width), nn.SiLU(), nn.Linear(width, width))

    def forward(self, step: Tensor) -> Tensor:
        return self.layers(sinusoids(step.float(), WAVES))
