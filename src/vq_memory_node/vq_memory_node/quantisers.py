"""Differentiable quantisers: from a latent to one of K codes and back.

Distances are squared Euclidean: summed over the dimensions, averaged over the batch.
"""

from abc import ABC
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn

from vq_memory_node.model_files import Architecture


class Quantised(NamedTuple):
    """A batch of latents, quantised.

    Attributes:
        latent: (B, dimensions) entries of the codes; gradients pass straight to the input latent.
        codes: (B,) int64.
        loss: commitment + codebook term, not yet multiplied by lambda.
    """

    latent: Tensor
    codes: Tensor
    loss: Tensor


class Quantiser(nn.Module, ABC):
    """Base of the quantisers, which are constructed from an `Architecture`.

    `forward` maps latents (B, dimensions) to a `Quantised`; in training mode it may update entries.
    """

    entries: Tensor

    def codebook(self) -> Tensor:
        """Return the entry of each code (K, dimensions)."""
        return self.entries

    @torch.no_grad()
    def place(self, codes: Tensor, entries: Tensor) -> None:
        """Replace the codebook entries at the indices `codes` (n,) by `entries` (n, dimensions)."""
        self.entries[codes] = entries


def nearest(latent: Tensor, codebook: Tensor) -> Tensor:
    """Return the index (B,) of the nearest entry (K, dimensions) to each latent."""
    distances = codebook.square().sum(1) - 2 * latent @ codebook.T
    return distances.argmin(1)


def squared(difference: Tensor) -> Tensor:
    """Return the squared norm, averaged over the batch."""
    return difference.square().flatten(1).sum(1).mean()


def straight_through(latent: Tensor, entries: Tensor) -> Tensor:
    """Return the entries, with the gradient of the latent."""
    return latent + (entries - latent).detach()


class StraightThrough(Quantiser):
    """Codebook learned by gradient descent, as published.

    loss = |z - sg(e)|^2 + |sg(z) - e|^2 (Wang et al., "VQ-Memory"; van den Oord et al., 2017).
    """

    def __init__(self, architecture: Architecture) -> None:
        super().__init__()
        self.entries = nn.Parameter(torch.randn(architecture.codes, architecture.dimensions))

    def forward(self, latent: Tensor) -> Quantised:
        """Quantise (B, dimensions)."""
        codes = nearest(latent.detach(), self.entries.detach())
        entries = self.entries[codes]
        loss = squared(latent - entries.detach()) + squared(latent.detach() - entries)
        return Quantised(straight_through(latent, entries), codes, loss)


class Ema(Quantiser):
    """Codebook of moving averages of the latents assigned to each entry; loss = |z - sg(e)|^2.

    van den Oord et al., "Neural Discrete Representation Learning" (2017), appendix A.1.
    """

    DECAY = 0.99
    """Decay of the moving averages (van den Oord et al. 2017, appendix A.1)."""

    counts: Tensor
    sums: Tensor

    def __init__(self, architecture: Architecture) -> None:
        super().__init__()
        entries = torch.randn(architecture.codes, architecture.dimensions)
        self.register_buffer("entries", entries)
        self.register_buffer("counts", torch.ones(architecture.codes))
        self.register_buffer("sums", entries.clone())

    @torch.no_grad()
    def place(self, codes: Tensor, entries: Tensor) -> None:
        """Replace the entries at the indices `codes` (n,), and set their counts to 1."""
        super().place(codes, entries)
        self.sums[codes] = entries
        self.counts[codes] = 1.0

    def forward(self, latent: Tensor) -> Quantised:
        """Quantise (B, dimensions); update the averages in training mode."""
        codes = nearest(latent.detach(), self.entries)
        entries = self.entries[codes]
        if self.training:
            self._update(latent.detach(), codes)
        return Quantised(straight_through(latent, entries), codes, squared(latent - entries))

    def _update(self, latent: Tensor, codes: Tensor) -> None:
        chosen = nn.functional.one_hot(codes, len(self.entries)).to(latent.dtype)
        self.counts.lerp_(chosen.sum(0), 1 - self.DECAY)
        self.sums.lerp_(chosen.T @ latent, 1 - self.DECAY)
        # The count of a code that is unused for long decays to 0; its entry is not changed.
        alive = self.counts > 1e-3
        self.entries[alive] = self.sums[alive] / self.counts[alive].unsqueeze(1)


QUANTISERS: dict[str, Callable[[Architecture], Quantiser]] = {
    "straight_through": StraightThrough,
    "ema": Ema,
}


def perplexity(counts: Tensor) -> float:
    """Return exp(entropy) of codes with these counts: 1 .. number of codes."""
    shares = counts.double() / counts.sum().clamp_min(1)
    return float(torch.special.entr(shares).sum().exp())
