"""Recorded exchanges: written, read again and replayed."""

import json
from dataclasses import replace

import pytest

from rulesafe_core.errors import RuleSafeError
from rulesafe_design.exchanges import Exchanges, RecordedModel, ReplayedModel
from rulesafe_design.models import ModelError, ModelRequest, Reply

REQUEST = ModelRequest((("user", "Write a lock: \u2028 \ud800 é."),), {"type": "object"}, number=7)


class Counting:
    """A model that counts its requests."""

    name, origin = "counting", {"by": "test"}

    def __init__(self):
        self.requests = 0

    def complete(self, request):
        self.requests += 1
        return Reply(f"{self.requests}: \ud800 é", "length", 3, None, {"rate": 2})


@pytest.fixture
def exchanges(tmp_path):
    return Exchanges(tmp_path / "exchanges", "counting", {"temperature": 0.5})


def test_recorded_reply_is_not_requested_again(exchanges):
    model = Counting()
    first = RecordedModel(model, exchanges).complete(REQUEST)
    assert RecordedModel(model, exchanges).complete(REQUEST) == first
    assert ReplayedModel(exchanges).complete(REQUEST) == first
    assert model.requests == 1
    assert first == Reply("1: \ud800 é", "length", 3, None, {"rate": 2})


def test_file_contains_the_request(exchanges):
    RecordedModel(Counting(), exchanges).complete(REQUEST)
    (path,) = exchanges.folder.iterdir()
    record = json.loads(path.read_text())
    assert path.name == f"0007_0_{record['key'][:16]}.json"
    assert record["messages"] == [{"role": "user", "content": REQUEST.messages[0][1]}]
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
def test_another_request_is_another_exchange(exchanges, changed):
    model = Counting()
    RecordedModel(model, exchanges).complete(REQUEST)
    RecordedModel(model, exchanges).complete(replace(REQUEST, **changed))
    assert model.requests == 2
    assert len(list(exchanges.folder.iterdir())) == 2


@pytest.mark.parametrize("changed", [{"model": "other"}, {"parameters": {}}])
def test_another_model_is_another_exchange(exchanges, changed):
    assert replace(exchanges, **changed).key(REQUEST) != exchanges.key(REQUEST)


def test_missing_reply(exchanges):
    RecordedModel(Counting(), exchanges).complete(REQUEST)
    with pytest.raises(RuleSafeError, match=r"message 1 of conversation 7: .* ended before"):
        ReplayedModel(exchanges).complete(replace(REQUEST, attempt=1))
    with pytest.raises(RuleSafeError, match=r"0007_0_.*json belongs to another request: .* model"):
        ReplayedModel(replace(exchanges, model="other")).complete(REQUEST)


class Failing(Counting):
    def complete(self, request):
        raise ModelError("rate", "é too many", {"rate": 2, "format": 1})


def test_failure_is_replayed_or_requested_again(exchanges, tmp_path):
    with pytest.raises(ModelError):
        RecordedModel(Failing(), exchanges).complete(REQUEST)
    copy = replace(exchanges, folder=tmp_path / "copy")
    with pytest.raises(ModelError, match="é too many") as raised:
        ReplayedModel(exchanges, copy).complete(REQUEST)
    assert (raised.value.kind, raised.value.retries) == ("rate", {"rate": 2, "format": 1})
    assert copy.path(REQUEST).read_bytes() == exchanges.path(REQUEST).read_bytes()
    model = Counting()
    first = RecordedModel(model, exchanges).complete(REQUEST)
    assert RecordedModel(model, exchanges).complete(REQUEST) == first
    assert model.requests == 1


def test_nothing_to_replay(exchanges):
    with pytest.raises(RuleSafeError, match="nothing to replay"):
        ReplayedModel(exchanges)


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
def test_invalid_file(exchanges, text):
    path = exchanges.path(REQUEST)
    path.parent.mkdir()
    path.write_text(text.replace("KEY", exchanges.key(REQUEST)))
    with pytest.raises(RuleSafeError, match=f"{path.name} is not a valid exchange.*remove it"):
        RecordedModel(Counting(), exchanges).complete(REQUEST)
