"""A 1D convolutional U-Net over the steps of a chunk, conditioned by FiLM.

After Chi et al., "Diffusion Policy", 2023; FiLM: Perez et al., 2018. Differences: the number of
residual blocks of a level is configurable instead of two; FiLM scales by 1 + s instead of s.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn


class MishStepEmbedding(nn.Module):
    """Maps the diffusion step (B,) to (B, width): sines and cosines, then an MLP."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.rates: Tensor
        rates = torch.exp(-math.log(10000) * torch.arange(width // 2) / (width // 2 - 1))
        self.register_buffer("rates", rates, persistent=False)
        self.layers = nn.Sequential(
            nn.Linear(width, 4 * width), nn.Mish(), nn.Linear(4 * width, width)
        )

    def forward(self, step: Tensor) -> Tensor:
        angles = step[:, None].float() * self.rates
        found: Tensor = self.layers(torch.cat([angles.sin(), angles.cos()], dim=-1))
        return found


def _convolution(channels: int, out: int, kernel: int, groups: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv1d(channels, out, kernel, padding=kernel // 2), nn.GroupNorm(groups, out), nn.Mish()
    )


class ResidualBlock(nn.Module):
    """Two convolutions with FiLM conditioning between them, and a residual connection."""

    def __init__(self, channels: int, out: int, condition: int, kernel: int, groups: int) -> None:
        super().__init__()
        self.first = _convolution(channels, out, kernel, groups)
        self.film = nn.Sequential(nn.Mish(), nn.Linear(condition, 2 * out))
        self.second = _convolution(out, out, kernel, groups)
        self.shortcut = nn.Conv1d(channels, out, 1) if channels != out else nn.Identity()

    def forward(self, x: Tensor, modulation: Tensor) -> Tensor:
        """Return (B, out, H) for x (B, channels, H) and the output of `film` (B, 2 x out)."""
        scale, shift = modulation[..., None].chunk(2, dim=1)
        found: Tensor = self.second(self.first(x) * (1 + scale) + shift) + self.shortcut(x)
        return found


class UNet(nn.Module):
    """Actions (B, H, width), diffusion step (B,), condition (B, C) -> (B, H, width).

    H must be a multiple of 2 ** (levels - 1).
    """

    def __init__(
        self,
        width: int,
        condition: int,
        channels: tuple[int, ...],
        blocks: int,
        kernel: int,
        groups: int,
        step_features: int,
    ) -> None:
        super().__init__()
        self.step = MishStepEmbedding(step_features)
        features = condition + step_features

        def level(first: int, out: int) -> nn.ModuleList:
            widths = [first, *[out] * blocks]
            return nn.ModuleList(
                ResidualBlock(a, b, features, kernel, groups) for a, b in pairwise(widths)
            )

        into = (width, *channels[:-1])
        self.down = nn.ModuleList(level(a, b) for a, b in zip(into, channels, strict=True))
        self.shrink = nn.ModuleList(nn.Conv1d(c, c, 3, 2, 1) for c in channels[:-1])
        self.middle = level(channels[-1], channels[-1])
        upwards = list(pairwise(channels[::-1]))
        self.up = nn.ModuleList(level(2 * a, b) for a, b in upwards)
        self.grow = nn.ModuleList(nn.ConvTranspose1d(b, b, 4, 2, 1) for _, b in upwards)
        self.out = nn.Sequential(
            _convolution(channels[0], channels[0], kernel, groups),
            nn.Conv1d(channels[0], width, 1),
        )

    def forward(self, actions: Tensor, step: Tensor, condition: Tensor) -> Tensor:
        features = torch.cat([self.step(step), condition], dim=-1)
        return self.denoise(actions, [block.film(features) for block in self._blocks()])

    def modulations(self, steps: Tensor, condition: Tensor) -> list[list[Tensor]]:
        """Return the `modulations` of `denoise` for each of the diffusion steps (S,) and condition
        (B, C). All steps are computed in one pass, which reads the weights only once."""
        count = len(condition)
        embedded = self.step(steps).repeat_interleave(count, 0)
        features = torch.cat([embedded, condition.repeat(len(steps), 1)], dim=-1)
        found = [block.film(features).split(count) for block in self._blocks()]
        return [list(step) for step in zip(*found, strict=True)]

    def denoise(self, actions: Tensor, modulations: Sequence[Tensor]) -> Tensor:
        """Return the same as `forward`, given the output of each block's `film` (B, 2 x out)."""
        modulation = iter(modulations)
        x = actions.transpose(1, 2)
        skips: list[Tensor] = []
        for level, blocks in enumerate(self.down):
            x = _apply_blocks(blocks, x, modulation)
            skips.append(x)
            if level < len(self.shrink):
                x = self.shrink[level](x)
        x = _apply_blocks(self.middle, x, modulation)
        for blocks, grow in zip(self.up, self.grow, strict=True):
            x = torch.cat([x, skips.pop()], dim=1)
            x = grow(_apply_blocks(blocks, x, modulation))
        found: Tensor = self.out(x).transpose(1, 2)
        return found

    def _blocks(self) -> list[ResidualBlock]:
        """Return the residual blocks, in the order of their execution."""
        return [block for level in (*self.down, self.middle, *self.up) for block in level]


def _apply_blocks(blocks: nn.Module, x: Tensor, modulations: Iterator[Tensor]) -> Tensor:
    assert isinstance(blocks, nn.ModuleList)
    for block in blocks:
        x = block(x, next(modulations))
    return x
