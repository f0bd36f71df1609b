"""Encoders of memories: they use values and order, and nothing that was not observed."""

import pytest

torch = pytest.importorskip("torch")

from policy_node.memory_encoders import MemoryEncoder
from vq_memory_node.memory import MemoryShape

NETWORKS = ("convolutions", "gru", "transformer")
TOKENS, RAW = MemoryShape("tokens", 6, 4), MemoryShape("raw", 6)
MASK = torch.tensor([[False, False, True, True, True, True]])


def made(network, shape):
    torch.manual_seed(0)
    return MemoryEncoder(shape, embedding=8, features=16, channels=(8, 8), network=network)


def memory(shape):
    torch.manual_seed(1)
    values = torch.randint(4, (1, 6)) if shape is TOKENS else torch.rand(1, 6, 13)
    values[0, 2], values[0, 5] = 0, 1
    return values


@pytest.mark.parametrize("shape", [TOKENS, RAW], ids=["tokens", "raw"])
@pytest.mark.parametrize("network", NETWORKS)
def test_values_and_their_order_matter_and_unobserved_values_do_not(network, shape):
    encoder, values = made(network, shape), memory(shape)
    found = encoder(values, MASK)
    assert found.shape == (1, 16)
    unseen, oldest, swapped = values.clone(), values.clone(), values.clone()
    unseen[0, :2] = 3
    assert torch.allclose(encoder(unseen, MASK), found)
    oldest[0, 2] = 3
    swapped[0, [2, 5]] = swapped[0, [5, 2]]
    for other in (oldest, swapped):
        assert (encoder(other, MASK) - found).abs().max() > 1e-3
    assert (encoder(values, MASK.roll(1, 1)) - found).abs().max() > 1e-3


@pytest.mark.parametrize("network", NETWORKS)
def test_all_parameters_are_trained(network):
    encoder = made(network, RAW)
    encoder(memory(RAW), MASK).square().sum().backward()
    assert all(p.grad is not None and p.grad.abs().max() > 0 for p in encoder.parameters())
