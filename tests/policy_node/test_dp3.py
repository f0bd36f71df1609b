from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")

from policy_node.batches import Batch
from policy_node.dp3 import Dp3
from policy_node.families import find_config, make_network
from policy_node.tracing import TracedSampler
from vq_memory_node.memory import MemoryShape

SHAPES = {
    "none": MemoryShape(),
    "raw": MemoryShape("raw", 6),
    "tokens": MemoryShape("tokens", 6, 4),
}


def make_batch(size, config, shape, seed=0, smooth=False):
    generator = torch.Generator().manual_seed(seed)

    def rand(*dims):
        return torch.rand(size, *dims, generator=generator) * 2 - 1

    batch = Batch(rand(config.frames, 13), points=rand(config.frames, config.points, 6))
    batch.actions = rand(config.past + 50, 13)
    if smooth:  # between two postures
        way = torch.linspace(0, 1, config.past + 50)[None, :, None]
        batch.actions = rand(1, 13) * (1 - way) + rand(1, 13) * way
    if shape.kind == "raw":
        batch.memory = rand(shape.length, 13)
    if shape.kind == "tokens":
        dims = (size, shape.length)
        batch.memory = torch.randint(shape.vocabulary, dims, generator=generator)
    if shape.kind != "none":
        batch.memory_mask = torch.ones(size, shape.length, dtype=torch.bool)
        batch.memory_mask[:, :2] = False
    return batch


def make(config, shape, seed=0):
    torch.manual_seed(seed)
    return Dp3(config, shape)


def sample(network, batch, seed=0):
    with torch.no_grad():
        return network.eval().sample(batch, torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("kind", SHAPES)
def test_a_graph_gives_the_same_samples(kind, small):
    network = make(small, SHAPES[kind]).eval().requires_grad_(False)
    traced = TracedSampler(network)
    with torch.inference_mode():
        for seed in range(4):
            batch = replace(make_batch(1 + seed % 2, small, SHAPES[kind], seed), actions=None)
            if kind != "none" and seed > 1:
                batch.memory_mask[:] = seed == 2
            found = traced(batch, torch.Generator().manual_seed(seed))
            assert torch.equal(found, sample(network, batch, seed))


@pytest.mark.parametrize("kind", SHAPES)
@pytest.mark.train
def test_it_learns_one_batch_by_heart(kind, small):
    """Two observations that differ only in the memory, and two that differ in everything, have
    different actions; without a memory the first two cannot be distinguished."""
    shape = SHAPES[kind]
    network, batch = make(small, shape), make_batch(4, small, shape, smooth=True)
    for seen in (batch.joints, batch.points):
        seen[1] = seen[0]
    optimiser = torch.optim.AdamW(network.parameters(), 3e-3, weight_decay=0.0, fused=True)
    steps = 250
    for step in range(steps):
        optimiser.param_groups[0]["lr"] = 3e-3 * (1 - step / steps)
        optimiser.zero_grad()
        network.loss(batch).backward()
        optimiser.step()
    error = (sample(network, batch) - batch.actions[:, small.past :]).abs().mean(dim=(1, 2))
    apart = (batch.actions[0] - batch.actions[1]).abs().mean()
    assert error[2:].max() < 0.05
    if kind == "none":
        assert error[:2].sum() > 0.8 * apart
    else:
        assert error[:2].max() < 0.05


@pytest.mark.parametrize("kind", SHAPES)
def test_every_weight_is_learned_and_counted(kind, small):
    shape = SHAPES[kind]
    network = make(small, shape)
    network.loss(make_batch(4, small, shape)).backward()
    for name, weight in network.named_parameters():
        assert weight.grad is not None and weight.grad.abs().sum() > 0, name
    counted = [p for part in network.parts().values() for p in part.parameters()]
    assert {id(p) for p in counted} == {id(p) for p in network.parameters()}
    assert len(counted) == len(list(network.parameters()))


@pytest.mark.parametrize("kind", ["raw", "tokens"])
def test_memory_that_was_not_observed_says_nothing(kind, small):
    shape = SHAPES[kind]
    network, batch = make(small, shape), make_batch(2, small, shape)
    reference = sample(network, batch)
    values = batch.memory.clone()
    values[:, :2] = 3
    assert torch.equal(reference, sample(network, replace(batch, memory=values)))
    values[:, 3:] = 0
    assert not torch.equal(reference, sample(network, replace(batch, memory=values)))
    all_seen = torch.ones_like(batch.memory_mask)
    assert not torch.equal(reference, sample(network, replace(batch, memory_mask=all_seen)))


def test_the_order_of_tokens_matters(small):
    network, batch = make(small, SHAPES["tokens"]), make_batch(1, small, SHAPES["tokens"])
    batch.memory_mask[:] = True
    batch.memory = torch.tensor([[0, 0, 1, 2, 3, 1]])
    turned = replace(batch, memory=batch.memory.flip(1))
    assert not torch.allclose(sample(network, batch), sample(network, turned))


def test_the_order_of_points_and_those_past_the_first_do_not_matter(small):
    network, batch = make(small, SHAPES["none"]), make_batch(2, small, SHAPES["none"])
    reference = sample(network, batch)
    mixed = batch.points[:, :, torch.randperm(small.points)]
    torch.testing.assert_close(reference, sample(network, replace(batch, points=mixed)))
    more = torch.cat([batch.points, torch.rand(2, 3, 9, 6)], dim=2)
    assert torch.equal(reference, sample(network, replace(batch, points=more)))
    last = batch.points[:, -small.cloud_frames :]
    assert torch.equal(reference, sample(network, replace(batch, points=last)))


def test_without_colour_only_places_are_looked_at(small):
    config = replace(small, colour=False)
    network, batch = make(config, SHAPES["none"]), make_batch(1, small, SHAPES["none"])
    reference = sample(network, batch)
    grey = batch.points.clone()
    grey[..., 3:] = 0
    assert torch.equal(reference, sample(network, replace(batch, points=grey)))


def test_a_sample_depends_on_the_generator_alone(small):
    network, batch = make(small, SHAPES["none"]), make_batch(2, small, SHAPES["none"])
    torch.manual_seed(1)
    one = sample(network, batch, seed=5)
    torch.manual_seed(2)
    assert torch.equal(one, sample(network, batch, seed=5))
    assert not torch.equal(one, sample(network, batch, seed=6))
    assert one.shape == (2, 50, 13)


@pytest.mark.parametrize("guess", [0, 16])
@pytest.mark.parametrize("size", [1, 3])
def test_the_sampler_predicts_what_the_predictor_does(size, guess, small):
    config = replace(small, guess=guess)
    network, batch = make(config, SHAPES["tokens"]), make_batch(size, config, SHAPES["tokens"])
    times = network.schedule.times
    assert times.tolist() == [16, 12, 8, 4, 0]
    with torch.no_grad():
        predict, sampler = network.predictor(batch), network.sampler(batch)
        for time in times:
            noisy = torch.randn_like(batch.actions)
            expected = predict(noisy, time.expand(size))
            torch.testing.assert_close(sampler(noisy, time.expand(size)), expected)


def test_the_published_size_has_the_published_widths():
    config = find_config("dp3", "base")
    with torch.device("meta"):
        network = make_network("dp3", config, SHAPES["tokens"])
    assert (config.points, config.frames + 49) == (1024, 52)
    assert config.channels == (512, 1024, 2048)
    # Published: 255 M with two frames of conditioning; three and a memory widen each FiLM layer.
    count = sum(weight.numel() for weight in network.unet.parameters())
    assert 250e6 < count < 270e6


def test_published_is_the_published_network_with_the_widths_of_tiny():
    tiny, published = find_config("dp3", "tiny"), find_config("dp3", "published")
    widths = ("pointnet", "state", "memory_channels", "channels", "blocks", "step_features")
    assert {name for name in widths if getattr(tiny, name) != getattr(published, name)} == set()
    additions = (published.encoder, published.guess, published.direct, published.loss)
    assert additions == (None, 0, False, "squared") and published.points == 1024
    with torch.device("meta"):
        assert make_network("dp3", published, SHAPES["tokens"]).scene_encoder() is None
