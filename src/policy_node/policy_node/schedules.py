"""Generation of actions from noise, for all families: diffusion (DDIM) and flow matching.

`loss` draws noise and times from torch's global generator.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import l1_loss, mse_loss

from policy_node.batches import Batch, Network
from policy_node.policy import CHUNK
from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_core.joints import ACTION_JOINTS

JOINTS = len(ACTION_JOINTS)

Predict = Callable[[Tensor, Tensor], Tensor]
"""The prediction of a network for one batch: noisy actions (B, H, 13), time (B,) -> (B, H, 13)."""

LOSSES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {"squared": mse_loss, "absolute": l1_loss}
"""Losses by name. The squared error, as published, is minimised by the mean of the actions in the
data; the absolute error by their median, which is robust to outliers."""


class NoiseSchedule(ABC):
    """Adds noise to actions in training, and generates actions from noise at inference."""

    @property
    @abstractmethod
    def times(self) -> Tensor:
        """The times (S,) at which `steps` calls the prediction, in this order."""

    @abstractmethod
    def loss(self, predict: Predict, actions: Tensor) -> Tensor:
        """Return the mean error of the prediction for actions (B, H, 13) with noise of random
        times."""

    @abstractmethod
    def steps(self, predict: Predict, noise: Tensor) -> Tensor:
        """Return actions (B, H, 13) from noise (B, H, 13); deterministic."""


class Diffusion(NoiseSchedule):
    """Deterministic DDIM (Song et al., 2020, equation 12 with sigma = 0) with the squared-cosine
    noise schedule of Nichol and Dhariwal, 2021.

    `time` is the diffusion step (int64); at step 0 there is hardly any noise. Actions must be in
    -1 .. 1: samples are clipped to this range. The network predicts the sample itself.

    Args:
        loss: one of LOSSES.
    """

    def __init__(self, train_steps: int, sample_steps: int, loss: str = "squared") -> None:
        if loss not in LOSSES:
            raise unknown_name("loss", loss, LOSSES)
        if not 1 <= sample_steps <= train_steps:
            raise RuleSafeError(
                f"sample_steps must be 1 to train_steps ({train_steps}), got {sample_steps}"
            )
        self._signal = signal_shares(train_steps)
        self._all_signal = torch.tensor(1.0)  # after the last step
        self.train_steps, self.sample_steps = train_steps, sample_steps
        self._error = LOSSES[loss]

    def loss(self, predict: Predict, actions: Tensor) -> Tensor:
        time = torch.randint(self.train_steps, actions.shape[:1], device=actions.device)
        noise = torch.randn_like(actions)
        share = self._signal.to(actions)[time, None, None]
        noisy = share**0.5 * actions + (1 - share) ** 0.5 * noise
        return self._error(predict(noisy, time), actions)

    @property
    def times(self) -> Tensor:
        stride = self.train_steps // self.sample_steps
        return torch.arange(self.sample_steps - 1, -1, -1) * stride

    def steps(self, predict: Predict, noise: Tensor) -> Tensor:
        actions = noise
        shares = [*self._signal[self.times], self._all_signal]
        for time, share, before in zip(self.times, shares[:-1], shares[1:], strict=True):
            sample = predict(actions, time.to(noise.device).expand(len(noise)))
            error = (actions - share**0.5 * sample) / (1 - share) ** 0.5
            actions = before**0.5 * sample.clamp(-1, 1) + (1 - before) ** 0.5 * error
        return actions


def signal_shares(steps: int) -> Tensor:
    """Return each step's share of signal variance, alpha-bar (steps,) float32, falling from about 1
    to 0: squared cosine with betas of at most 0.999 (Nichol and Dhariwal, 2021, section 3.2)."""

    def share(time: float) -> float:
        return math.cos((time + 0.008) / 1.008 * math.pi / 2) ** 2

    betas = [min(1 - share((i + 1) / steps) / share(i / steps), 0.999) for i in range(steps)]
    return torch.cumprod(1 - torch.tensor(betas), dim=0)


BETA_SHAPE = 1.5
"""a of the distribution Beta(a, 1) from which 1 - time of flow matching is drawn in training, so
that noisy times are more frequent; as in Black et al., "pi0", 2024."""

LATEST_TIME = 0.999
"""Maximum time of flow matching in training, as in the same paper."""


class FlowMatching(NoiseSchedule):
    """Flow matching (Lipman et al., 2022) on straight paths; the network predicts the velocity.

    `time` is float32 from 0 (noise) to 1 (actions).

    Args:
        sample_steps: number of Euler steps at inference.
    """

    def __init__(self, sample_steps: int) -> None:
        self.sample_steps = sample_steps

    def loss(self, predict: Predict, actions: Tensor) -> Tensor:
        uniform = torch.rand(actions.shape[0], device=actions.device)
        # u ** (1 / a) has the distribution Beta(a, 1), most of it near 1, which becomes time 0.
        time = LATEST_TIME * (1 - uniform ** (1 / BETA_SHAPE))
        noise, at = torch.randn_like(actions), time[:, None, None]
        noisy = (1 - at) * noise + at * actions
        return mse_loss(predict(noisy, time), actions - noise)

    @property
    def times(self) -> Tensor:
        return torch.arange(self.sample_steps) / self.sample_steps

    def steps(self, predict: Predict, noise: Tensor) -> Tensor:
        actions = noise
        for time in self.times.to(noise.device):
            actions = actions + predict(actions, time.expand(len(noise))) / self.sample_steps
        return actions


class DenoisingNetwork(Network):
    """A network that generates actions from noise.

    Attributes:
        schedule: the noise schedule.
        past: P, number of predicted actions before the chunk, which are discarded.
    """

    schedule: NoiseSchedule
    past = 0

    @abstractmethod
    def predictor(self, batch: Batch) -> Predict:
        """Return the network's prediction function for one batch."""

    def sampler(self, batch: Batch) -> Predict:
        """Return the same as `predictor`, for calls with the times of the schedule, each once and
        in their order: what depends on times and batch only can be computed in advance."""
        return self.predictor(batch)

    def loss(self, batch: Batch) -> Tensor:
        assert batch.actions is not None
        return self.schedule.loss(self.predictor(batch), batch.actions)

    def sample(self, batch: Batch, generator: torch.Generator | None = None) -> Tensor:
        return self.denoise(batch, self.noise(batch, generator))

    def noise(self, batch: Batch, generator: torch.Generator | None = None) -> Tensor:
        """Return the noise (B, P + 50, 13) from which the actions of a batch are generated."""
        shape = (len(batch), self.past + CHUNK, JOINTS)
        return torch.randn(shape, device=batch.joints.device, generator=generator)

    def denoise(self, batch: Batch, noise: Tensor) -> Tensor:
        """Return (B, 50, 13) normalised actions from noise (B, P + 50, 13)."""
        return self.schedule.steps(self.sampler(batch), noise)[:, self.past :]
