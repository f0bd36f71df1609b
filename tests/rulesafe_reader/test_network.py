"""The policy that reads chooses subtasks from the instruction and the decoded grasps."""

import math

import pytest

torch = pytest.importorskip("torch")

from policy_node.batches import Batch
from policy_node.configs import SkillsConfig
from policy_node.families import find_config, make_network
from rulesafe_core.errors import RuleSafeError
from rulesafe_reader.configs import ReaderConfig
from rulesafe_reader.memory import Grasps
from rulesafe_reader.network import EVENTS, PULL
from rulesafe_reader.parser import Candidate, Parser, ParserConfig, save_parser
from rulesafe_reader.reader import Observed, Reader
from vq_memory_node.memory import MemoryShape

WORDS = ("open", "knob", "handle")
OPEN_KNOB = ("LockDesign", "(", ")", "PhaseTest", "'open'", "None", "None", "None")


class Known:
    """A parser that knows one lock."""

    def candidates(self, words, count):
        return [Candidate(OPEN_KNOB, 0.0)] if 2 in words else []


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    path = tmp_path_factory.mktemp("parser") / "parser.safetensors"
    save_parser(Parser(WORDS, OPEN_KNOB[:2], ParserConfig(16, 2, 1)), path)
    config = ReaderConfig(SkillsConfig(stored=60), parser=str(path))
    found = make_network("reader", config, Grasps(length=4).shape).eval()
    found._reader = Reader(Known())
    return found


@pytest.fixture
def episode(network, monkeypatch):
    """Return a function that makes the batch after grasps of these classes."""

    def make(*classes, text="open knob"):
        logits = (
            torch.nn.functional.one_hot(torch.tensor(classes).long(), 2 * len(EVENTS)).float() * 20
        )
        monkeypatch.setattr(network.decoder, "forward", lambda joints, safes: logits)
        ids = torch.tensor([network.token_ids(text)])
        mask = torch.arange(4)[None] >= 4 - len(classes)
        return Batch(
            torch.zeros(1, 3, 13),
            scene_features=torch.zeros(1, 1, network.skills.encoder.features),
            language=ids,
            language_mask=torch.ones_like(ids, dtype=torch.bool),
            memory=torch.zeros(1, 4, 13),
            memory_mask=mask,
        )

    return make


def moves(network, batch):
    return [each._replace(misread=0.0) for each in network.history(batch)]


def test_grasps_are_decoded_in_order(network, episode):
    network.reset()
    opened, pulled = EVENTS.index("knob+"), EVENTS.index("door+")
    batch = episode(len(EVENTS) + opened, opened, len(EVENTS) + pulled)
    expected = [Observed("knob+", False), Observed("knob+"), Observed("door+", False)]
    assert moves(network, batch) == expected
    assert all(each.misread < 1e-6 for each in network.history(batch))


def test_an_uncertain_grasp_is_probably_of_the_chosen_event(network, episode, monkeypatch):
    network.reset()
    network.choose(episode())  # the knob
    network.choose(batch := episode(EVENTS.index("handle+")))  # the first grasp is observed
    knob, handle = EVENTS.index("knob+"), EVENTS.index("handle+")
    logits = torch.full((1, 2 * len(EVENTS)), -20.0)
    logits[0, [handle, knob, len(EVENTS) + knob]] = torch.tensor([1.0, 0.0, -1.0])
    monkeypatch.setattr(network.decoder, "forward", lambda joints, safes: logits)
    (found,) = network.history(batch)
    assert (found.event, found.happened) == ("knob+", True)
    assert found.misread == pytest.approx(1 / (1 + math.e))


def test_the_subtask_is_the_next_event_of_the_plan(network, episode):
    opened = EVENTS.index("knob+")
    network.reset()
    choose = lambda *classes, **text: EVENTS[int(network.choose(episode(*classes, **text)))]  # noqa: E731
    assert choose(len(EVENTS) + opened) == "knob+"
    assert choose(opened) == "door+"
    assert choose(opened, text="handle") == "door+", "an instruction that is not understood"


def test_a_door_that_does_not_open_in_time_counts_as_tried(network, episode):
    network.reset()
    opened = EVENTS.index("knob+")
    pulls = int(PULL / 1.2) + 1
    chosen = [EVENTS[int(network.choose(episode(opened)))] for _ in range(pulls)]
    assert set(chosen) == {"door+"} and moves(network, episode(opened)) == [Observed("knob+")]
    network.choose(episode(opened))
    refused = Observed("door+", False)
    assert moves(network, episode(opened)) == [Observed("knob+"), refused]
    for _ in range(pulls):
        network.choose(episode(opened))
    assert EVENTS[int(network.choose(episode(opened)))] == "knob+", "it may have been turned back"
    handle = EVENTS.index("handle-")
    released = moves(network, episode(opened, handle))
    assert released == [Observed("knob+"), refused, refused], "the hand lets go of the door"
    again = moves(network, episode(opened, handle, opened))
    assert again == [Observed("knob+"), refused, refused, Observed("knob+")]
    network.reset()
    assert moves(network, episode(opened)) == [Observed("knob+")]


def test_another_memory_is_refused():
    with pytest.raises(RuleSafeError, match=r"requires --memory grasps"):
        make_network("reader", find_config("reader", "tiny"), MemoryShape("tokens", 40, 4))
