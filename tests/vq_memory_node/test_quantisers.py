import math

import pytest

torch = pytest.importorskip("torch")

from vq_memory_node.model_files import Architecture
from vq_memory_node.networks import Decoder, Encoder
from vq_memory_node.quantisers import (
    QUANTISERS,
    Ema,
    StraightThrough,
    nearest,
    perplexity,
    squared,
)

SMALL = Architecture(dimensions=4, codes=8)


@pytest.fixture(autouse=True)
def repeatable():
    """One thread and one seed."""
    torch.set_num_threads(1)
    torch.manual_seed(0)


def latents(count, dimensions=4):
    """Latents that require a gradient."""
    return torch.randn(count, dimensions, requires_grad=True)


def test_the_loss_is_the_formula():
    quantiser, latent = StraightThrough(SMALL), latents(5)
    found = quantiser(latent)
    by_hand = 0.0
    for z in latent.detach():
        distances = [float(((z - e) ** 2).sum()) for e in quantiser.entries.detach()]
        by_hand += 2 * min(distances) / 5  # commitment and codebook term have the same value
    assert found.loss.item() == pytest.approx(by_hand, rel=1e-5)
    assert [int(c) for c in found.codes] == [
        min(range(8), key=lambda k: float(((z - quantiser.entries[k]) ** 2).sum().detach()))
        for z in latent
    ]
    torch.testing.assert_close(found.latent, quantiser.entries[found.codes])


def test_gradients_stop_where_the_formula_says():
    quantiser, latent = StraightThrough(SMALL), latents(6)
    found = quantiser(latent)
    found.loss.backward()
    off = (latent - quantiser.entries[found.codes]).detach()
    # d/dz of |z - sg(e)|^2 and d/de of |sg(z) - e|^2, each averaged over the batch.
    torch.testing.assert_close(latent.grad, 2 * off / 6)
    expected = torch.zeros(8, 4).index_add(0, found.codes, -2 * off / 6)
    torch.testing.assert_close(quantiser.entries.grad, expected)


@pytest.mark.parametrize("name", ["straight_through", "ema"])
def test_reconstruction_reaches_the_latent_and_not_the_codebook(name):
    quantiser, latent = QUANTISERS[name](SMALL), latents(6)
    weights = torch.randn(6, 4)
    (quantiser(latent).latent * weights).sum().backward()
    torch.testing.assert_close(latent.grad, weights)
    assert all(
        parameter.grad is None or not parameter.grad.any() for parameter in quantiser.parameters()
    )


def test_a_moving_average_has_the_commitment_loss_alone():
    quantiser, latent = Ema(SMALL).eval(), latents(6)
    found = quantiser(latent)
    found.loss.backward()
    off = (latent - quantiser.entries[found.codes]).detach()
    assert found.loss.item() == pytest.approx(float(squared(off)), rel=1e-6)
    torch.testing.assert_close(latent.grad, 2 * off / 6)
    assert not list(quantiser.parameters())


def test_one_step_of_the_moving_average():
    quantiser = Ema(Architecture(dimensions=1, codes=2))
    quantiser.place(torch.tensor([0, 1]), torch.tensor([[0.0], [10.0]]))
    quantiser(torch.tensor([[1.0], [2.0], [9.0]]))
    # counts 0.99 + 0.01 n, sums 0.99 e + 0.01 times the sum of assigned latents
    expected = torch.tensor([[0.01 * 3 / (0.99 + 0.02)], [(9.9 + 0.09) / 1.0]])
    torch.testing.assert_close(quantiser.codebook(), expected)
    quantiser.eval()(torch.tensor([[5.0], [20.0]]))
    torch.testing.assert_close(quantiser.codebook(), expected)  # only training mode changes it


def test_a_code_that_is_rarely_used_still_learns_and_a_replaced_one_begins_anew():
    quantiser = Ema(Architecture(dimensions=1, codes=2))
    quantiser.place(torch.tensor([0, 1]), torch.tensor([[0.0], [10.0]]))
    for _ in range(400):
        quantiser(torch.tensor([[0.0]]))
    rest = 0.99**400  # its count, 0.018
    quantiser(torch.tensor([[11.0]]))
    expected = (0.99 * rest * 10 + 0.01 * 11) / (0.99 * rest + 0.01)
    assert quantiser.codebook()[1].item() == pytest.approx(expected, rel=1e-3)
    quantiser.place(torch.tensor([1]), torch.tensor([[20.0]]))
    quantiser(torch.tensor([[21.0]]))
    assert quantiser.codebook()[1].item() == pytest.approx(20.01, abs=1e-4)


@pytest.mark.parametrize("name", ["straight_through", "ema"])
def test_placed_entries_are_chosen(name):
    quantiser = QUANTISERS[name](SMALL)
    entries = 50 + torch.arange(8.0).reshape(2, 4)
    quantiser.place(torch.tensor([3, 5]), entries)
    found = quantiser.eval()(entries)
    assert found.codes.tolist() == [3, 5]
    torch.testing.assert_close(found.latent, entries)


def test_nearest_agrees_with_all_distances():
    latent, entries = torch.randn(50, 6), torch.randn(20, 6)
    assert (nearest(latent, entries) == torch.cdist(latent, entries).argmin(1)).all()


def test_perplexity_counts_codes_in_use():
    assert perplexity(torch.tensor([5, 5, 0, 5, 5])) == pytest.approx(4)
    assert perplexity(torch.tensor([9, 0, 0])) == pytest.approx(1)
    half = math.exp(0.75 * math.log(4 / 3) + 0.25 * math.log(4))
    assert perplexity(torch.tensor([3, 1])) == pytest.approx(half)


def test_squared_sums_over_dimensions_and_averages_over_the_batch():
    assert squared(torch.ones(3, 2, 5)).item() == 10


@pytest.mark.parametrize("window", [50, 31])
def test_the_decoder_gives_windows_back_in_shape(window):
    encoder, decoder = Encoder(SMALL, 13, window), Decoder(SMALL, 13, window)
    windows = torch.randn(3, 13, window)
    assert encoder(windows).shape == (3, 4)
    assert decoder(encoder(windows)).shape == windows.shape
