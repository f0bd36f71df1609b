"""Fixtures: small networks with images and instructions, and batches for them."""

from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from policy_node.batches import Batch
from policy_node.cogact import CogAct
from policy_node.configs_vla import COGACT_SIZES, PI0_SIZES, RDT_SIZES, ImageEncoderConfig
from policy_node.pi0 import Pi0
from policy_node.rdt import Rdt
from vq_memory_node.memory import MemoryShape

torch.set_num_threads(1)


def _small(config):
    """Return a family's tiny configuration with images of 32 pixels and a width of 64."""
    narrow = {"d_model": 64, "d_ff": 64, "hidden_size": 64, "intermediate_size": 64}
    sizes = {key: narrow.get(key, value) for key, value in config.language.sizes.items()}
    return replace(
        config,
        language=replace(config.language, sizes=sizes),
        vision=ImageEncoderConfig(32, (8, 16, 32)),
        encoder=None,
        width=64,
    )


@pytest.fixture(scope="session")
def small_readers():
    """Return small vision-language networks by name: (class, configuration)."""
    return {
        "rdt": (Rdt, _small(RDT_SIZES["tiny"])),
        # Without guidance, so that samples follow the learned distribution; see test_cogact.py.
        "cogact": (CogAct, replace(_small(COGACT_SIZES["tiny"]), guidance=1.0)),
        "pi0": (Pi0, _small(PI0_SIZES["tiny"])),
    }


@pytest.fixture
def read_batch():
    """Return a batch of B equal observations with 2 images of 32 pixels."""

    def make(network, memory, size=2, instruction="Open the knob, then the handle."):
        random = torch.Generator().manual_seed(7)
        ids = torch.tensor(network.token_ids(instruction)).repeat(size, 1)
        pictures = torch.randint(256, (1, 2, 32, 32, 3), generator=random, dtype=torch.uint8)
        batch = Batch(
            joints=torch.rand(1, 1, 13, generator=random).repeat(size, 1, 1),
            images=pictures.repeat(size, 1, 1, 1, 1),
            language=ids,
            language_mask=torch.ones_like(ids, dtype=torch.bool),
            actions=torch.rand(1, 50, 13, generator=random).repeat(size, 1, 1),
        )
        if memory.kind != "none":
            batch.memory_mask = torch.ones(size, memory.length, dtype=torch.bool)
        if memory.kind == "raw":
            batch.memory = torch.rand(size, memory.length, 13, generator=random)
        if memory.kind == "tokens":
            shape = (size, memory.length)
            batch.memory = torch.randint(memory.vocabulary, shape, generator=random)
        return batch

    return make


@pytest.fixture(scope="session")
def shapes():
    """Return the memory shape of a kind."""
    return {
        "none": MemoryShape(),
        "raw": MemoryShape("raw", 6),
        "tokens": MemoryShape("tokens", 6, 4),
    }
