"""The policy that reads chooses subtasks from the instruction and the decoded grasps."""

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
        logits = torch.nn.functional.one_hot(torch.tensor(classes), 2 * len(EVENTS)).float()
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


def test_grasps_are_decoded_in_order(network, episode):
    opened, pulled = EVENTS.index("knob+"), EVENTS.index("door+")
    found = network.history(episode(len(EVENTS) + opened, opened, len(EVENTS) + pulled))
    assert found == [Observed("knob+", False), Observed("knob+"), Observed("door+", False)]


def test_the_subtask_is_the_next_event_of_the_plan(network, episode):
    opened = EVENTS.index("knob+")
    choose = lambda *classes, **text: EVENTS[int(network.choose(episode(*classes, **text)))]  # noqa: E731
    assert choose(len(EVENTS) + opened) == "knob+"
    assert choose(opened) == "door+"
    assert choose(opened, text="handle") == "door+", "an instruction that is not understood"


def test_a_door_that_does_not_open_in_time_counts_as_tried(network, episode):
    network.reset()
    opened = EVENTS.index("knob+")
    pulls = int(PULL / 1.2) + 2  # the last grasp was observed before the first of them
    chosen = [EVENTS[int(network.choose(episode(opened)))] for _ in range(pulls)]
    assert set(chosen) == {"door+"} and network.history(episode(opened)) == [Observed("knob+")]
    network.choose(episode(opened))
    refused = Observed("door+", False)
    assert network.history(episode(opened)) == [Observed("knob+"), refused]
    for _ in range(pulls):
        network.choose(episode(opened))
    assert EVENTS[int(network.choose(episode(opened)))] == "knob+", "it may have been turned back"
    again = network.history(episode(opened, opened))
    assert again == [Observed("knob+"), refused, refused, Observed("knob+")]
    network.reset()
    assert network.history(episode(opened)) == [Observed("knob+")]


def test_another_memory_is_refused():
    with pytest.raises(RuleSafeError, match=r"requires --memory grasps"):
        make_network("reader", find_config("reader", "tiny"), MemoryShape("tokens", 40, 4))
