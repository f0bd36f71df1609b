"""The shared attention of pi0's two transformers."""

from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from policy_node.pi0 import Pi0, block_mask
from policy_node.vision_language import positions


def test_blocks_see_themselves_and_those_before():
    given = torch.tensor([[True, True, False, True, True, True]])
    blocks = torch.tensor([0, 0, 0, 1, 2, 2])
    seen = block_mask(given, blocks, 6)[0].int().tolist()
    assert seen == [
        [1, 1, 0, 0, 0, 0],
        [1, 1, 0, 0, 0, 0],
        [1, 1, 0, 0, 0, 0],
        [1, 1, 0, 1, 0, 0],
        [1, 1, 0, 1, 1, 1],
        [1, 1, 0, 1, 1, 1],
    ]
    assert torch.equal(block_mask(given, blocks, 3), block_mask(given, blocks, 6)[:, -3:])


@pytest.fixture
def network(small_readers, shapes):
    torch.manual_seed(0)
    _, config = small_readers["pi0"]
    sizes = config.language.sizes
    alike = replace(config, width=sizes["hidden_size"], hidden=sizes["intermediate_size"])
    return Pi0(alike, shapes["tokens"])


def test_the_cache_gives_what_one_attention_over_all_tokens_gives(network, shapes, read_batch):
    """If the expert has the language model's weights, both are equivalent to one transformer."""
    text, expert = network.model.text, network.expert
    for own, others in zip(expert.layers, text.layers, strict=True):
        own.load_state_dict(others.state_dict())
    expert.norm.load_state_dict(text.norm.state_dict())
    batch = read_batch(network, shapes["tokens"])
    batch.memory_mask[1, :3] = False
    suffix = []
    expert.register_forward_pre_hook(
        lambda _, args, given: suffix.append(given["inputs_embeds"]), with_kwargs=True
    )
    with torch.no_grad():
        found = network.predictor(batch)(batch.actions, torch.full((2,), 0.3))
        prefix, there = network.model(batch)
        there = torch.cat([there, there.new_ones(2, 51)], 1)
        blocks = torch.tensor([0] * prefix.shape[1] + [1] + [2] * 50)
        mask = torch.zeros(2, 1, len(blocks), len(blocks))
        mask.masked_fill_(~block_mask(there, blocks, len(blocks))[:, None], -3e4)
        whole = text(
            inputs_embeds=torch.cat([prefix, suffix[0]], 1),
            attention_mask=mask,
            position_ids=positions(there),
        ).last_hidden_state
    torch.testing.assert_close(found, network.out(whole[:, -50:]), atol=1e-5, rtol=1e-4)


def test_the_state_does_not_see_the_actions_and_they_see_it(network, shapes, read_batch):
    batch = read_batch(network, shapes["tokens"])
    outputs = []
    network.expert.register_forward_hook(lambda *hook: outputs.append(hook[2].last_hidden_state))
    with torch.no_grad():
        predict = network.predictor(batch)
        for actions in (batch.actions, batch.actions + 1):
            predict(actions, torch.zeros(2))
        batch.joints = batch.joints + 1
        network.predictor(batch)(batch.actions, torch.zeros(2))
    torch.testing.assert_close(outputs[0][:, 0], outputs[1][:, 0])
    assert not torch.allclose(outputs[0][:, 1:], outputs[1][:, 1:], atol=1e-4)
    assert not torch.allclose(outputs[0][:, 1:], outputs[2][:, 1:], atol=1e-4)
