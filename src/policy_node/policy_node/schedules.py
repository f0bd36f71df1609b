"""From noise to actions, once for all families: diffusion (DDIM) and flow matching.

Both take a network as `predict(noisy (B, H, 13), time (B,)) -> (B, H, 13)`. Noise and times of
`loss` come from torch's global generator.
"""

from collections.abc import Callable
from typing import Literal

import torch
from diffusers.schedulers.scheduling_ddim import DDIMScheduler
from torch import Tensor
from torch.nn.functional import l1_loss, mse_loss

from rulesafe_core.errors import unknown_name

Predict = Callable[[Tensor, Tensor], Tensor]

LOSSES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {"squared": mse_loss, "absolute": l1_loss}
"""What is made small: squared errors, by the mean of what may follow, as published; absolute ones,
by the median, which a few odd demonstrations do not move."""


class Diffusion:
    """DDIM after Song et al., 2020, by diffusers, with squared-cosine noise. `time` is the step,
    int64, 0: hardly any noise.

    Actions must lie in -1 .. 1: samples are clipped to that.

    Args:
        prediction: what the network predicts: the sample itself, as in DP3 and RDT, or the noise
            in it, as in CogACT.
        loss: one of LOSSES.

    Errors: RuleSafeError for an unknown loss.
    """

    def __init__(
        self,
        train_steps: int,
        sample_steps: int,
        prediction: Literal["sample", "epsilon"] = "sample",
        loss: str = "squared",
    ) -> None:
        if loss not in LOSSES:
            raise unknown_name("loss", loss, LOSSES)
        self._scheduler = DDIMScheduler(
            num_train_timesteps=train_steps,
            beta_schedule="squaredcos_cap_v2",
            prediction_type=prediction,
            clip_sample=True,
        )
        self.train_steps, self.sample_steps = train_steps, sample_steps
        self.prediction = prediction
        self._error = LOSSES[loss]

    def loss(self, predict: Predict, actions: Tensor) -> Tensor:
        """Mean error of the prediction, at a random step for each of (B, H, 13)."""
        time = torch.randint(self.train_steps, actions.shape[:1], device=actions.device)
        noise = torch.randn_like(actions)
        noisy = self._scheduler.add_noise(actions, noise, time)  # type: ignore[arg-type]
        wanted = actions if self.prediction == "sample" else noise
        return self._error(predict(noisy, time), wanted)

    def sample(
        self,
        predict: Predict,
        shape: tuple[int, ...],
        device: torch.device,
        generator: torch.Generator | None = None,
    ) -> Tensor:
        """Actions (B, H, 13) from noise that the generator draws; nothing else is random."""
        self._scheduler.set_timesteps(self.sample_steps)
        actions = torch.randn(shape, device=device, generator=generator)
        for step in self._scheduler.timesteps.tolist():
            predicted = predict(actions, torch.full(shape[:1], step, device=device))
            actions = self._scheduler.step(predicted, step, actions).prev_sample
        return actions


class FlowMatching:
    """A straight path from noise to actions, after Lipman et al., 2022; the network predicts the
    velocity. `time` is float32, 0: noise, 1: actions.

    Args:
        sample_steps: Euler steps at inference.
        shape: first parameter of the beta distribution that times are drawn from in training,
            the second being 1, towards noise; 1.5 after Black et al., "pi0", 2024.
        latest: times above this are not trained on; 0.999 after the same.
    """

    def __init__(self, sample_steps: int, shape: float = 1.5, latest: float = 0.999) -> None:
        self.sample_steps = sample_steps
        self._shape, self._latest = shape, latest

    def loss(self, predict: Predict, actions: Tensor) -> Tensor:
        """Mean squared error of the velocity, at a random time for each of (B, H, 13)."""
        uniform = torch.rand(actions.shape[0], device=actions.device)
        # u ** (1 / a) has the distribution Beta(a, 1): most of it near 1, which is turned to noise.
        time = self._latest * (1 - uniform ** (1 / self._shape))
        noise, at = torch.randn_like(actions), time[:, None, None]
        noisy = (1 - at) * noise + at * actions
        return mse_loss(predict(noisy, time), actions - noise)

    def sample(
        self,
        predict: Predict,
        shape: tuple[int, ...],
        device: torch.device,
        generator: torch.Generator | None = None,
    ) -> Tensor:
        """Actions (B, H, 13) from noise that the generator draws; nothing else is random."""
        actions = torch.randn(shape, device=device, generator=generator)
        for step in range(self.sample_steps):
            time = torch.full(shape[:1], step / self.sample_steps, device=device)
            actions = actions + predict(actions, time) / self.sample_steps
        return actions
