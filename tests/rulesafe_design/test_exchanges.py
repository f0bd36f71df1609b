"""Exchanges on disk: kept, found again, replayed."""

import json
from dataclasses import replace

import pytest

from rulesafe_core.errors import RuleSafeError
from rulesafe_design.endpoint import Endpoint
from rulesafe_design.exchanges import Exchanges, Recorded, Replay, open_model
from rulesafe_design.models import ModelError, ModelRequest, Reply

ASKED = ModelRequest((("user", "Write a lock: \u2028 \ud800 é."),), {"type": "object"}, number=7)


class Counting:
    """A model that says how often it was asked."""

    name, origin = "counting", {"by": "test"}

    def __init__(self):
        self.asked = 0

    def complete(self, request):
        self.asked += 1
        return Reply(f"{self.asked}: \ud800 é", "length", 3, None, {"rate": 2})


@pytest.fixture
def kept(tmp_path):
    return Exchanges(tmp_path / "exchanges", "counting", {"temperature": 0.5})


def test_what_is_on_disk_is_not_asked_again(kept):
    model = Counting()
    first = Recorded(model, kept).complete(ASKED)
    assert Recorded(model, kept).complete(ASKED) == first
    assert Replay(kept).complete(ASKED) == first
    assert model.asked == 1
    assert first == Reply("1: \ud800 é", "length", 3, None, {"rate": 2})


def test_the_file_says_what_was_asked(kept):
    Recorded(Counting(), kept).complete(ASKED)
    (path,) = kept.folder.iterdir()
    record = json.loads(path.read_text())
    assert path.name == f"0007_0_{record['key'][:16]}.json"
    assert record["messages"] == [{"role": "user", "content": ASKED.messages[0][1]}]
    assert (record["model"], record["parameters"]) == ("counting", {"temperature": 0.5})
    assert (record["number"], record["attempt"]) == (7, 0)


@pytest.mark.parametrize(
    "changed",
    [
        {"messages": (("user", "Write another."),)},
        {"schema": {"type": "array"}},
        {"number": 8},
        {"attempt": 1},
    ],
)
def test_another_request_is_another_exchange(kept, changed):
    model = Counting()
    Recorded(model, kept).complete(ASKED)
    Recorded(model, kept).complete(replace(ASKED, **changed))
    assert model.asked == 2
    assert len(list(kept.folder.iterdir())) == 2


@pytest.mark.parametrize("changed", [{"model": "other"}, {"parameters": {}}])
def test_another_model_is_another_exchange(kept, changed):
    assert replace(kept, **changed).key(ASKED) != kept.key(ASKED)


def test_a_miss_names_what_is_missing(kept):
    Recorded(Counting(), kept).complete(ASKED)
    with pytest.raises(RuleSafeError, match=r"message 1 of conversation 7: .* ended before"):
        Replay(kept).complete(replace(ASKED, attempt=1))
    with pytest.raises(RuleSafeError, match=r"0007_0_.*json belongs to another request: .* model"):
        Replay(replace(kept, model="other")).complete(ASKED)


class Failing(Counting):
    def complete(self, request):
        raise ModelError("rate", "é too many", {"rate": 2, "format": 1})


def test_a_failure_is_replayed_and_asked_again(kept, tmp_path):
    with pytest.raises(ModelError):
        Recorded(Failing(), kept).complete(ASKED)
    copy = replace(kept, folder=tmp_path / "copy")
    with pytest.raises(ModelError, match="é too many") as raised:
        Replay(kept, copy).complete(ASKED)
    assert (raised.value.kind, raised.value.retries) == ("rate", {"rate": 2, "format": 1})
    assert copy.path(ASKED).read_bytes() == kept.path(ASKED).read_bytes()
    model = Counting()
    first = Recorded(model, kept).complete(ASKED)
    assert Recorded(model, kept).complete(ASKED) == first
    assert model.asked == 1


def test_nothing_to_replay(kept):
    with pytest.raises(RuleSafeError, match="nothing to replay"):
        Replay(kept)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "null",
        '{"format": 1}',
        '{"format": "rulesafe-exchange-1", "key": "KEY"}',
        '{"format": "rulesafe-exchange-1", "key": "KEY", "reply": {"text": 1}}',
        '{"format": "rulesafe-exchange-1", "key": "KEY", "reply": {"text": "a", "other": 1}}',
        '{"format": "rulesafe-exchange-1", "key": "KEY", "reply": {"text": "a", "tokens_in": "1"}}',
        '{"format": "rulesafe-exchange-1", "key": "KEY", "reply": {"text": "a", "retries": []}}',
        '{"format": "rulesafe-exchange-1", "key": "KEY", "reply": {"text": "a", "finish": "x"}}',
        '{"format": "rulesafe-exchange-1", "key": "KEY", "failure": {"kind": "rate"}}',
        '{"format": "rulesafe-exchange-1", "key": "KEY", "failure": '
        '{"kind": "other", "message": "", "retries": {}}}',
        '{"format": "rulesafe-exchange-1", "key": "KEY", "failure": '
        '{"kind": "rate", "message": "", "retries": {"rate": null}}}',
        "[" * 100_000,
    ],
)
def test_a_spoiled_file_is_named(kept, text):
    path = kept.path(ASKED)
    path.parent.mkdir()
    path.write_text(text.replace("KEY", kept.key(ASKED)))
    with pytest.raises(RuleSafeError, match=f"{path.name} is not a valid exchange.*remove it"):
        Recorded(Counting(), kept).complete(ASKED)


def test_no_key_in_any_file(server, key, tmp_path):
    server.says(f"the key is {key}")
    server.says("{}")
    model = open_model(Endpoint("tester", server.url), tmp_path)
    model.complete(ASKED)
    model.complete(replace(ASKED, number=8))
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) == 2
    assert not any(key in path.read_text() for path in files)


def test_a_replay_needs_neither_endpoint_nor_key(server, key, tmp_path, monkeypatch):
    server.says("{}")
    endpoint = Endpoint("tester", server.url)
    reply = open_model(endpoint, tmp_path / "one").complete(ASKED)
    monkeypatch.delenv("OPENAI_API_KEY")
    again = open_model(Endpoint("tester"), tmp_path / "two", replay=tmp_path / "one")
    assert again.complete(ASKED) == reply
    one, two = (next((tmp_path / name / "exchanges").iterdir()) for name in ("one", "two"))
    assert (one.name, one.read_bytes()) == (two.name, two.read_bytes())
