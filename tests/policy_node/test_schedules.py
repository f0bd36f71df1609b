import subprocess
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from policy_node.ema import averaged
from policy_node.schedules import Diffusion, FlowMatching
from rulesafe_core.errors import RuleSafeError


def seeded(seed):
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize(("steps", "samples"), [(100, 10), (100, 7), (50, 50)])
def test_each_step_is_that_of_the_paper(steps, samples):
    """Song et al., 2020, equation 12 without noise, in double precision, from call to call."""
    calls = []

    def network(noisy, time):
        calls.append((noisy.double().numpy(), int(time[0])))
        return torch.tanh(noisy + time[:, None, None] / steps)

    noise = torch.randn(1, 50, 13, generator=seeded(0))
    last = Diffusion(steps, samples).steps(network, noise)
    share = np.cos((np.arange(steps + 1) / steps + 0.008) / 1.008 * np.pi / 2) ** 2
    share = np.cumprod(np.maximum(share[1:] / share[:-1], 0.001))
    assert [time for _, time in calls] == [k * (steps // samples) for k in range(samples)][::-1]
    for (noisy, time), after in zip(calls, [*calls[1:], (last.double().numpy(), -1)], strict=True):
        predicted = np.tanh(noisy + time / steps)
        root, rest = np.sqrt(share[time]), np.sqrt(1 - share[time])
        error = (noisy - root * predicted) / rest
        then = share[after[1]] if after[1] >= 0 else 1.0
        expected = np.sqrt(then) * np.clip(predicted, -1, 1) + np.sqrt(1 - then) * error
        np.testing.assert_allclose(after[0], expected, atol=2e-3)


def test_noisy_actions_keep_their_variance():
    torch.manual_seed(0)
    noisy = []
    actions = torch.randn(4000, 1, 13)
    Diffusion(100, 10).loss(lambda values, time: noisy.append((values, time)) or values, actions)
    values, time = noisy[0]
    for low in (0, 50, 90):
        chosen = values[(time >= low) & (time < low + 10)]
        assert chosen.var().item() == pytest.approx(1.0, abs=0.05)


def test_an_unknown_loss_is_refused():
    with pytest.raises(RuleSafeError, match="squared, absolute"):
        Diffusion(100, 10, loss="cubed")


@pytest.mark.parametrize("samples", [0, 101])
def test_a_number_of_sampling_steps_out_of_range_is_refused(samples):
    with pytest.raises(RuleSafeError, match=rf"1 to train_steps \(100\), got {samples}"):
        Diffusion(100, samples)


def test_flow_arrives_where_a_perfect_network_points():
    actions = torch.rand(2, 50, 13, generator=seeded(0)) * 2 - 1

    def velocity(noisy, time):
        return (actions - noisy) / (1 - time[:, None, None])

    found = FlowMatching(10).steps(velocity, torch.randn(actions.shape, generator=seeded(1)))
    np.testing.assert_allclose(found, actions, atol=1e-4)


@pytest.mark.parametrize("schedule", [Diffusion(100, 10), FlowMatching(10)])
def test_what_the_network_is_trained_to_say_has_no_loss(schedule):
    """The exact prediction can be computed from the noisy actions and the time."""
    torch.manual_seed(0)
    actions = torch.rand(64, 50, 13) * 2 - 1

    def perfect(noisy, time):
        if isinstance(schedule, Diffusion):
            return actions
        return (actions - noisy) / (1 - time[:, None, None])

    def mute(noisy, time):
        return torch.zeros_like(noisy)

    assert schedule.loss(perfect, actions).item() < 1e-6
    assert schedule.loss(mute, actions).item() > 0.2


@pytest.mark.parametrize(("loss", "expected"), [("squared", 0.25), ("absolute", 0.5)])
def test_each_loss_is_its_formula(loss, expected):
    actions = torch.full((4, 50, 13), 0.5)
    schedule = Diffusion(100, 10, loss=loss)
    assert schedule.loss(lambda *_: torch.zeros_like(actions), actions).item() == expected


def test_times_of_flow_matching_lean_to_the_noise():
    torch.manual_seed(0)
    times = []
    FlowMatching(10).loss(
        lambda noisy, time: times.append(time) or noisy, torch.zeros(20000, 1, 13)
    )
    assert times[0].min() >= 0
    assert times[0].max() <= 0.999
    # 0.999 (1 - mean of Beta(1.5, 1)) = 0.3996
    assert times[0].mean().item() == pytest.approx(0.3996, abs=0.01)


def test_the_average_follows_the_weights_and_then_lags():
    network = torch.nn.Linear(1, 1)
    average = averaged(network, 0.9)
    for value in (0.0, 0.0, 1.0):
        torch.nn.init.constant_(network.weight, value)
        average.update_parameters(network)
    # First a copy (0), then 2/11 kept (0), then 3/12 kept of 0 and the rest of 1.
    assert average.module.weight.item() == pytest.approx(0.75)
    for _ in range(200):
        average.update_parameters(network)
    torch.nn.init.constant_(network.weight, 0.0)
    average.update_parameters(network)
    assert average.module.weight.item() == pytest.approx(0.9, abs=1e-4)


META = """
import torch, importlib, pkgutil, policy_node
with torch.device("meta"):  # as to describe a network without its weights
    names = [module.name for module in pkgutil.iter_modules(policy_node.__path__)]
    for name in names:
        if not name.endswith("node") and name not in ("convert", "synchroniser"):  # without ROS
            try:
                importlib.import_module(f"policy_node.{name}")
            except ImportError:
                pass  # an extra
for name, module in list(importlib.sys.modules.items()):
    if name.startswith("policy_node"):
        for key, value in vars(module).items():
            if isinstance(value, torch.Tensor):
                print(f"{name}.{key}: {value.device}")
"""


def test_a_module_that_is_imported_for_a_description_has_no_tensor():
    """It would stay on the meta device, and no policy of the process could infer."""
    done = subprocess.run([sys.executable, "-c", META], capture_output=True, text=True, check=True)
    assert not done.stdout
