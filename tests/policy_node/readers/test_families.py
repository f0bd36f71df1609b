"""RDT, CogACT and pi0 learn, and learn from the intended inputs."""

import copy

import pytest

torch = pytest.importorskip("torch")

from policy_node.tracing import TracedSampler
from policy_node.training_data import pad

FAMILIES = ("rdt", "cogact", "pi0")
STEPS = {"rdt": 100, "cogact": 220, "pi0": 200}
MEMORIES = ("none", "raw", "tokens")


def changed(batch, **values):
    """Return the batch with other values, which are functions of the old ones."""
    other = copy.copy(batch)
    for name, change in values.items():
        setattr(other, name, change(getattr(batch, name).clone()))
    return other


def told_apart(batch, kind):
    """Return a batch whose even and odd observations differ only in the memory, or in the images if
    there is no memory."""
    curve = torch.linspace(0, 3, 50)[:, None] + torch.arange(13)
    batch.actions[::2], batch.actions[1::2] = 0.8 * curve.sin(), 0.8 * curve.cos()
    if kind == "none":
        batch.images[1::2] = 255 - batch.images[1]
    else:
        first = batch.memory[0].clone()
        batch.memory[::2], batch.memory[1::2] = first, (-first if kind == "raw" else 3 - first)
    return batch


@pytest.fixture(params=FAMILIES)
def family(request, small_readers):
    return small_readers[request.param]


@pytest.fixture(params=MEMORIES)
def memory(request, shapes):
    return shapes[request.param]


def made(family, memory):
    torch.manual_seed(0)
    kind, config = family
    return kind(config, memory)


@pytest.mark.train
def test_overfits_a_batch_that_only_the_memory_or_the_pictures_tell_apart(
    family, memory, read_batch
):
    network = made(family, memory)
    batch = told_apart(read_batch(network, memory, size=8), memory.kind)
    optimiser = torch.optim.AdamW(network.parameters(), 2e-3, fused=True)
    steps = STEPS[type(network).__name__.lower()]
    for step in range(steps):
        for group in optimiser.param_groups:
            group["lr"] = 2e-3 * (1 - step / steps)
        optimiser.zero_grad()
        network.loss(batch).backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.step()
    with torch.no_grad():
        found = network.sample(batch, torch.Generator().manual_seed(1))
    errors = (found - batch.actions).abs().mean(dim=(1, 2))
    apart = (batch.actions[0] - batch.actions[1]).abs().mean()
    assert errors.max() < 0.15 * apart


def test_all_parameters_belong_to_a_part_and_learn(family, memory, read_batch):
    network = made(family, memory)
    listed = {id(p) for part in network.parts().values() for p in part.parameters()}
    assert listed == {id(p) for p in network.parameters()}
    network.loss(read_batch(network, memory, size=8)).backward()
    idle = {name for name, p in network.named_parameters() if p.grad is None}
    # Only keys and values of pi0's last layer over the prefix are used.
    assert all(name.startswith(("model.text.norm", "model.text.layers.2.")) for name in idle)
    assert not idle or type(network).__name__ == "Pi0"


def test_a_sample_is_a_chunk_and_hangs_on_the_generator_alone(family, memory, read_batch):
    network = made(family, memory)
    batch = read_batch(network, memory)
    with torch.no_grad():
        found = [network.sample(batch, torch.Generator().manual_seed(s)) for s in (3, 3, 4)]
    assert found[0].shape == (2, 50, 13) and found[0].isfinite().all()
    assert torch.equal(found[0], found[1]) and not torch.equal(found[0], found[2])


def test_a_graph_gives_the_same_samples(family, memory, read_batch):
    network = made(family, memory).eval().requires_grad_(False)
    batch = read_batch(network, memory)
    batches = [
        batch,
        changed(batch, images=lambda images: 255 - images, joints=lambda joints: -joints),
        changed(batch, language=lambda ids: ids.flip(1)),
        read_batch(network, memory, size=1, instruction="Open it."),
    ]
    if memory.kind != "none":
        batches.append(changed(batch, memory_mask=torch.zeros_like))
    traced = TracedSampler(network)
    with torch.inference_mode():
        for one in batches * 2:
            one.actions = None
            eager = network.sample(one, torch.Generator().manual_seed(0))
            assert torch.equal(traced(one, torch.Generator().manual_seed(0)), eager)


@pytest.mark.parametrize("kind", ["raw", "tokens"])
def test_what_is_masked_changes_nothing(family, kind, shapes, read_batch):
    network = made(family, shapes[kind])
    batch = read_batch(network, shapes[kind])
    batch.memory_mask[:, :4] = False
    batch.language_mask[:, -3:] = False

    def chunk(batch):
        with torch.no_grad():
            return network.sample(batch, torch.Generator().manual_seed(0))

    def other(values):
        values[:, :4] = 1 - values[:, :4].clamp(max=1)
        return values

    def last_words(ids):
        ids[:, -3:] = 9
        return ids

    def seen(values):
        values[:, 4:] = 1 - values[:, 4:].clamp(max=1)
        return values

    usual = chunk(batch)
    torch.testing.assert_close(chunk(changed(batch, memory=other)), usual)
    torch.testing.assert_close(chunk(changed(batch, language=last_words)), usual)
    assert not torch.allclose(chunk(changed(batch, memory=seen)), usual, atol=1e-5)


@pytest.mark.parametrize("kind", ["raw", "tokens"])
def test_a_longer_instruction_in_the_batch_changes_nothing(family, kind, shapes, read_batch):
    """A training batch has instructions of different lengths, inference only one. No memory value
    is masked here, so that its position would have an effect."""
    network = made(family, shapes[kind])
    alone = read_batch(network, shapes[kind], size=1)
    ids = alone.language[0].tolist()
    language, mask = pad([ids, [*ids, *ids]])
    beside = changed(alone, language=lambda _: language[:1], language_mask=lambda _: mask[:1])
    with torch.no_grad():
        found = [network.sample(b, torch.Generator().manual_seed(0)) for b in (alone, beside)]
    torch.testing.assert_close(found[0], found[1])


def test_every_sense_is_used(family, shapes, read_batch):
    network = made(family, shapes["none"])
    batch = read_batch(network, shapes["none"])
    senses = {
        "joints": lambda joints: joints + 1,
        "images": lambda images: 255 - images,
        "language": lambda ids: ids.flip(1),
    }
    with torch.no_grad():
        usual = network.sample(batch, torch.Generator().manual_seed(0))
        for sense, change in senses.items():
            found = network.sample(
                changed(batch, **{sense: change}), torch.Generator().manual_seed(0)
            )
            assert not torch.allclose(found, usual, atol=1e-5), sense
