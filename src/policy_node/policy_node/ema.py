"""Weights averaged over training: what a checkpoint keeps, and what is asked for chunks."""

import torch
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel

Tensors = tuple[Tensor, ...] | list[Tensor]


def averaged(network: nn.Module, decay: float) -> AveragedModel:
    """A copy of the network that follows it by `update_parameters(network)` after each step.

    At step n the average keeps min(decay, (1 + n) / (10 + n)) of itself, so that it soon forgets
    the random weights it began with. Buffers are copied, not averaged.
    """

    @torch.no_grad()
    def follow(means: Tensors, values: Tensors, count: Tensor | int) -> None:
        done = float(count)
        share = 1 - min(decay, (1 + done) / (10 + done))
        torch._foreach_lerp_(list(means), list(values), share)

    return AveragedModel(network, multi_avg_fn=follow)
