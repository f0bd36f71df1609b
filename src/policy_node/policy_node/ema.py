"""Exponential moving average of the weights, which checkpoints contain."""

import torch
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel

Tensors = tuple[Tensor, ...] | list[Tensor]


def averaged(network: nn.Module, decay: float) -> AveragedModel:
    """Return the averaged network; call its `update_parameters(network)` after each step.

    The decay at step n is min(decay, (1 + n) / (10 + n)), so that the random initial weights soon
    lose their influence. Buffers are copied, not averaged.
    """

    @torch.no_grad()
    def update(means: Tensors, values: Tensors, count: Tensor | int) -> None:
        steps = float(count)
        weight = 1 - min(decay, (1 + steps) / (10 + steps))
        torch._foreach_lerp_(list(means), list(values), weight)

    return AveragedModel(network, multi_avg_fn=update)
