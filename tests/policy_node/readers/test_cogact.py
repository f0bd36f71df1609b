"""Classifier-free guidance of CogACT."""

from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from policy_node.cogact import CogAct


def made(small_readers, memory, **settings):
    torch.manual_seed(0)
    _, config = small_readers["cogact"]
    return CogAct(replace(config, **settings), memory)


def test_guidance_goes_from_without_a_cognition_past_with_it(small_readers, shapes, read_batch):
    found = {}
    for guidance in (0.0, 1.0, 1.5):
        network = made(small_readers, shapes["tokens"], guidance=guidance)
        batch = read_batch(network, shapes["tokens"])
        with torch.no_grad():
            cognition, joints = network.cognition(batch), batch.joints[:, -1]
            step = torch.tensor([40, 60])
            found[guidance] = network.guided(batch.actions, step, cognition, joints)
            under = network.actions(batch.actions, step, cognition, joints)
            nothing = network.actions.nothing.expand_as(cognition)
            free = network.actions(batch.actions, step, nothing, joints)
    torch.testing.assert_close(found[0.0], free)
    torch.testing.assert_close(found[1.0], under)
    torch.testing.assert_close(found[1.5], 1.5 * under - 0.5 * free)
    assert not torch.allclose(under, free, atol=1e-4)


@pytest.mark.parametrize(
    ("drop", "with_cognition", "without"), [(0.0, True, False), (1.0, False, True)]
)
def test_what_is_dropped_teaches_the_stand_in_alone(
    small_readers, shapes, read_batch, drop, with_cognition, without
):
    network = made(small_readers, shapes["tokens"], drop=drop)
    network.loss(read_batch(network, shapes["tokens"])).backward()
    assert bool(network.query.grad.abs().sum() > 0) is with_cognition
    assert bool(network.actions.nothing.grad.abs().sum() > 0) is without
