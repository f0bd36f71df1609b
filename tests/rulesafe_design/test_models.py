"""An endpoint that behaves, and all the ways in which it does not, over a real connection."""

import asyncio
import subprocess
import sys
import time

import pytest

from rulesafe_core.errors import RuleSafeError
from rulesafe_design.endpoint import Endpoint, OpenAIModel, check_url
from rulesafe_design.models import FAILURES, ModelError, ModelRequest

ASKED = ModelRequest((("system", "Be brief."), ("user", "Say JSON.")), {"type": "object"}, number=1)


@pytest.fixture
def model(server, key):
    return OpenAIModel(Endpoint("tester", server.url, timeout_s=60, tries=3))


def hasty(server):
    return OpenAIModel(Endpoint("tester", server.url, timeout_s=0.3, tries=2))


def failure(model, request=ASKED):
    with pytest.raises(ModelError) as raised:
        model.complete(request)
    assert raised.value.kind in FAILURES
    return raised.value


def test_what_is_sent_and_what_comes_back(server, key):
    server.says('{"a": 1}')
    endpoint = Endpoint("tester", server.url + "/", temperature=0.5, max_tokens=900)
    reply = OpenAIModel(endpoint).complete(ASKED)
    assert (reply.text, reply.finish) == ('{"a": 1}', "stop")
    assert (reply.tokens_in, reply.tokens_out, reply.retries) == (100, 20, {})
    (sent,) = server.requests
    assert sent["path"] == "/v1/chat/completions"
    assert sent["headers"]["authorization"] == f"Bearer {key}"
    assert sent["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Say JSON."},
    ]
    assert (sent["model"], sent["temperature"], sent["max_tokens"]) == ("tester", 0.5, 900)
    form = sent["response_format"]
    assert form["type"] == "json_schema"
    assert form["json_schema"]["schema"] == ASKED.schema


def test_a_model_keeps_its_own_parameters(server, model):
    server.says("{}")
    model.complete(ASKED)
    assert not {"temperature", "max_tokens", "seed"} & set(server.requests[0])


@pytest.mark.parametrize(
    ("said", "finish"),
    [
        ({"text": '{"a', "finish": "length"}, "length"),
        ({"text": None, "refusal": "I cannot."}, "refusal"),
        ({"text": "", "finish": "content_filter"}, "refusal"),
    ],
)
def test_why_a_reply_ended(server, model, said, finish):
    server.says(**said)
    reply = model.complete(ASKED)
    assert reply.finish == finish
    assert reply.text == (said.get("refusal") or said["text"])


def test_content_in_parts_and_no_usage(server, model):
    server.says([{"type": "text", "text": "one "}, {"type": "text", "text": "two"}], usage=None)
    reply = model.complete(ASKED)
    assert (reply.text, reply.tokens_in, reply.tokens_out) == ("one two", None, None)


def test_half_characters_and_senseless_counts(server, model):
    server.says("a\ud800b", usage=(-5, 10**30))
    reply = model.complete(ASKED)
    assert (reply.text, reply.tokens_in, reply.tokens_out) == ("a?b", None, None)


def test_structured_output_falls_back_and_stays_there(server, model):
    server.fails(400, "response_format is not supported")
    server.fails(422, "nor is this")
    server.says("{}")
    server.says("{}")
    assert model.complete(ASKED).retries == {"format": 2}
    assert model.complete(ASKED).retries == {}
    forms = [sent.get("response_format", {}).get("type") for sent in server.requests]
    assert forms == ["json_schema", "json_object", None, None]


def test_a_bad_request_for_other_reasons_does_not_spoil_the_form(server, model):
    for _ in range(3):
        server.fails(400, "the prompt is too long")
    server.says("{}")
    error = failure(model)
    assert error.kind == "request"
    assert "the prompt is too long" in str(error)
    model.complete(ASKED)
    assert server.requests[-1]["response_format"]["type"] == "json_schema"


def test_a_rate_limit_is_waited_for_as_long_as_it_says(server, model):
    server.fails(429, "slowly", {"Retry-After": "0.4"})
    server.says("{}")
    begin = time.monotonic()
    assert model.complete(ASKED).retries == {"rate": 1}
    assert time.monotonic() - begin >= 0.4


def test_a_pause_of_an_hour_ends_the_run(server, model):
    server.fails(429, "quota exceeded", {"Retry-After": "3600"})
    error = failure(model)
    assert (error.kind, error.retries) == ("rate", {"rate": 1})
    assert "HTTP 429: quota exceeded (try 1 of 3)" in str(error)
    assert len(server.requests) == 1


def test_passing_failures_are_tried_again_and_counted(server, model):
    server.fails(500)
    server.drops()
    server.says("{}")
    assert model.complete(ASKED).retries == {"server": 1, "connection": 1}


def test_tries_are_bounded(server, model):
    for _ in range(9):
        server.fails(503, "overloaded")
    error = failure(model)
    assert (error.kind, error.retries) == ("server", {"server": 3})
    assert "HTTP 503: overloaded (try 3 of 3)" in str(error)
    assert len(server.requests) == 3


def test_a_wrong_key_is_not_tried_again(server, model):
    server.fails(401, "Incorrect API key provided")
    assert failure(model).kind == "request"
    assert len(server.requests) == 1


def test_redirects_are_not_followed(server, model):
    server.sends(b"", 302, {"Location": server.url + "/elsewhere"})
    assert failure(model).kind == "request"
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "body",
    [
        b"<html>Bad gateway</html>",
        b"",
        b"[]",
        b'"text"',
        b'{"choices": []}',
        b'{"choices": [{"message": null}]}',
        b'{"error": {"message": "no upstream"}}',
        b"\xff\xfe",
        b"[" * 100_000,
    ],
)
def test_an_answer_that_is_no_completion(server, model, body):
    server.sends(body)
    server.says("{}")
    assert model.complete(ASKED).retries == {"reply": 1}


def test_a_body_that_breaks_off(server, model):
    server.breaks_off()
    server.says("{}")
    assert model.complete(ASKED).retries == {"connection": 1}


def test_silence(server, key):
    server.is_silent()
    server.is_silent()
    error = failure(hasty(server))
    assert (error.kind, error.retries) == ("timeout", {"connection": 2})
    assert "no reply within 0.3 s (try 2 of 2)" in str(error)


@pytest.mark.parametrize(("pause", "kind"), [(0.0, "reply"), (0.05, "timeout")])
def test_a_body_without_end(server, key, pause, kind):
    server.never_ends(pause)
    server.says("{}")
    patient = Endpoint("tester", server.url, timeout_s=1.5, tries=2)
    reply = OpenAIModel(patient).complete(ASKED)
    assert sum(reply.retries.values()) == 1
    assert reply.retries.keys() <= {kind, "timeout"}


def test_a_caller_may_have_an_event_loop(server, model):
    """As in a notebook."""
    server.says("{}")

    async def ask():
        return model.complete(ASKED)

    assert asyncio.run(ask()).text == "{}"


def test_an_error_without_end(server, model):
    server.never_ends(status=500)
    server.says("{}")
    assert model.complete(ASKED).retries == {"server": 1}


def test_nobody_listens(key):
    gone = Endpoint("tester", "http://127.0.0.1:9/v1", tries=2)
    error = failure(OpenAIModel(gone))
    assert (error.kind, error.retries) == ("connection", {"connection": 2})
    assert "no connection to http://127.0.0.1:9/v1/: " in str(error)
    assert "refused" in str(error)


def test_an_endpoint_that_sends_the_key_back(server, model, key):
    server.fails(401, f"{'x' * 290} {key} is wrong")
    server.says(f"your key is {key}")
    assert key[:8] not in str(failure(model))
    assert key not in model.complete(ASKED).text


def test_the_key_comes_from_the_environment_alone(server, monkeypatch, key):
    monkeypatch.delenv("OPENAI_API_KEY")
    server.says("{}")
    OpenAIModel(Endpoint("tester", server.url)).complete(ASKED)
    assert server.requests[0]["headers"]["authorization"] == "Bearer none"
    with pytest.raises(RuleSafeError, match="OPENAI_API_KEY"):
        OpenAIModel(Endpoint("tester", "https://models.example/v1"))
    with pytest.raises(RuleSafeError, match="OPENAI_API_KEY"):
        OpenAIModel(Endpoint("tester"))


@pytest.mark.parametrize("wrong", ["two words", "line\nbreak", "schlüssel"])
def test_a_key_that_is_none_is_not_shown(monkeypatch, wrong):
    monkeypatch.setenv("OPENAI_API_KEY", wrong)
    with pytest.raises(RuleSafeError, match="OPENAI_API_KEY is not a valid key") as raised:
        OpenAIModel(Endpoint("tester", "http://127.0.0.1:9/v1"))
    assert wrong not in str(raised.value)


@pytest.mark.parametrize("url", ["http://me:pass@host/v1", "http://host/v1?api-key=pass"])
def test_no_secret_in_an_address(url):
    with pytest.raises(RuleSafeError) as raised:
        Endpoint("tester", url)
    assert "pass" not in str(raised.value).replace("password", "")


@pytest.mark.parametrize("url", ["", "host:80", "ftp://host", "http://", "http://[::1"])
def test_addresses_that_are_none(url):
    with pytest.raises(RuleSafeError, match="not a base URL"):
        check_url(url)


def test_a_model_needs_a_name_and_a_try():
    with pytest.raises(RuleSafeError, match="name"):
        Endpoint(" ")
    with pytest.raises(RuleSafeError, match="tries is 0"):
        Endpoint("tester", tries=0)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf"), -1.0, 1e300])
@pytest.mark.parametrize("name", ["timeout_s", "temperature"])
def test_numbers_of_an_endpoint_are_finite(name, value):
    with pytest.raises(RuleSafeError, match=f"{name} is .*valid: "):
        Endpoint("tester", **{name: value})


def test_without_the_client_the_error_says_what_to_install():
    code = (
        "import sys; sys.modules['openai'] = None\n"
        "from rulesafe_design.endpoint import Endpoint, OpenAIModel\n"
        "from rulesafe_core.errors import RuleSafeError\n"
        "try: OpenAIModel(Endpoint('tester', 'http://127.0.0.1:9/v1'))\n"
        "except RuleSafeError as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert "openai is not installed: pip install 'rulesafe[llm]'" in done.stdout
