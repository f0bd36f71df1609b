"""OpenAIModel with correct and failing endpoints, over a real connection."""

import asyncio
import subprocess
import sys
import time

import pytest

from rulesafe_core.errors import RuleSafeError
from rulesafe_design.endpoint import Endpoint, OpenAIModel, check_url
from rulesafe_design.models import FAILURES, ModelError, ModelRequest

REQUEST = ModelRequest(
    (("system", "Be brief."), ("user", "Say JSON.")), {"type": "object"}, number=1
)


@pytest.fixture
def model(server, key):
    return OpenAIModel(Endpoint("tester", server.url, timeout_s=60, tries=3))


def model_of(server, timeout_s):
    return OpenAIModel(Endpoint("tester", server.url, timeout_s=timeout_s, tries=2))


def failure(model, request=REQUEST):
    with pytest.raises(ModelError) as raised:
        model.complete(request)
    assert raised.value.kind in FAILURES
    return raised.value


def test_request_and_reply(server, key):
    server.reply('{"a": 1}')
    endpoint = Endpoint("tester", server.url + "/", temperature=0.5, max_tokens=900)
    reply = OpenAIModel(endpoint).complete(REQUEST)
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
    assert form["json_schema"]["schema"] == REQUEST.schema


def test_defaults_of_the_model_are_not_overridden(server, model):
    server.reply("{}")
    model.complete(REQUEST)
    assert not {"temperature", "max_tokens", "seed"} & set(server.requests[0])


@pytest.mark.parametrize(
    ("reply_fields", "finish"),
    [
        ({"text": '{"a', "finish": "length"}, "length"),
        ({"text": None, "refusal": "I cannot."}, "refusal"),
        ({"text": "", "finish": "content_filter"}, "refusal"),
        ({"text": "", "reasoning_content": '{"a": 1}'}, "reasoning"),
        ({"text": None, "reasoning": "I think", "finish": "length"}, "reasoning"),
        ({"text": "{}", "reasoning_content": "I think"}, "stop"),
    ],
)
def test_finish_reason(server, model, reply_fields, finish):
    server.reply(**reply_fields)
    reply = model.complete(REQUEST)
    assert reply.finish == finish
    assert reply.text == (reply_fields.get("refusal") or reply_fields["text"] or "")


def test_content_in_parts_and_no_usage(server, model):
    server.reply([{"type": "text", "text": "one "}, {"type": "text", "text": "two"}], usage=None)
    reply = model.complete(REQUEST)
    assert (reply.text, reply.tokens_in, reply.tokens_out) == ("one two", None, None)


def test_lone_surrogates_and_invalid_token_counts(server, model):
    server.reply("a\ud800b", usage=(-5, 10**30))
    reply = model.complete(REQUEST)
    assert (reply.text, reply.tokens_in, reply.tokens_out) == ("a?b", None, None)


def test_response_format_falls_back_permanently(server, model):
    server.fail(400, "response_format is not supported")
    server.fail(422, "nor is this")
    server.reply("{}")
    server.reply("{}")
    assert model.complete(REQUEST).retries == {"format": 2}
    assert model.complete(REQUEST).retries == {}
    forms = [sent.get("response_format", {}).get("type") for sent in server.requests]
    assert forms == ["json_schema", "json_object", None, None]


def test_other_bad_request_does_not_change_the_format(server, model):
    for _ in range(3):
        server.fail(400, "the prompt is too long")
    server.reply("{}")
    error = failure(model)
    assert error.kind == "request"
    assert "the prompt is too long" in str(error)
    model.complete(REQUEST)
    assert server.requests[-1]["response_format"]["type"] == "json_schema"


def test_retry_after_is_respected(server, model):
    server.fail(429, "slowly", {"Retry-After": "0.4"})
    server.reply("{}")
    begin = time.monotonic()
    assert model.complete(REQUEST).retries == {"rate": 1}
    assert time.monotonic() - begin >= 0.4


def test_a_pause_of_an_hour_ends_the_run(server, model):
    server.fail(429, "quota exceeded", {"Retry-After": "3600"})
    error = failure(model)
    assert (error.kind, error.retries) == ("rate", {"rate": 1})
    assert "HTTP 429: quota exceeded (try 1 of 3)" in str(error)
    assert len(server.requests) == 1


def test_number_of_tries_is_limited(server, model):
    for _ in range(9):
        server.fail(503, "overloaded")
    error = failure(model)
    assert (error.kind, error.retries) == ("server", {"server": 3})
    assert "HTTP 503: overloaded (try 3 of 3)" in str(error)
    assert len(server.requests) == 3


@pytest.mark.parametrize("status", [401, 302])
def test_a_wrong_key_is_not_retried_and_a_redirect_is_not_followed(server, model, status):
    server.send(b"", status, {"Location": server.url + "/elsewhere"})
    assert failure(model).kind == "request"
    assert len(server.requests) == 1


NO_COMPLETIONS = [
    b"<html>Bad gateway</html>",
    b"",
    b"[]",
    b'"text"',
    b'{"choices": []}',
    b'{"choices": [{"message": null}]}',
    b'{"error": {"message": "no upstream"}}',
    b"\xff\xfe",
    b"[" * 100_000,
]


@pytest.mark.parametrize(
    ("fail", "kind"),
    [
        (lambda server: server.fail(500), "server"),
        (lambda server: server.send_endless_body(status=500), "server"),
        (lambda server: server.drop(), "connection"),
        (lambda server: server.send_half_body(), "connection"),
        (lambda server: server.send_endless_body(), "reply"),
        *((lambda server, body=body: server.send(body), "reply") for body in NO_COMPLETIONS),
    ],
)
def test_temporary_failures_are_retried_and_counted(server, model, monkeypatch, fail, kind):
    monkeypatch.setattr("rulesafe_design.endpoint.MAX_REPLY_BYTES", 150_000)
    fail(server)
    server.reply("{}")
    assert model.complete(REQUEST).retries == {kind: 1}


def test_endpoint_that_never_responds(server, key):
    server.never_respond()
    server.never_respond()
    error = failure(model_of(server, timeout_s=0.3))
    assert (error.kind, error.retries) == ("timeout", {"connection": 2})
    assert "no reply within 0.3 s (try 2 of 2)" in str(error)


def test_slow_endless_body(server, key):
    server.send_endless_body(0.05)
    server.reply("{}")
    assert model_of(server, timeout_s=5).complete(REQUEST).retries == {"timeout": 1}


def test_complete_inside_an_event_loop(server, model):
    """Notebooks, for example, run an event loop."""
    server.reply("{}")

    async def ask():
        return model.complete(REQUEST)

    assert asyncio.run(ask()).text == "{}"


def test_endless_body_of_the_last_error(server, model, key, monkeypatch):
    server.send_endless_body(0.05, status=401)
    assert "HTTP 401: (no message) (try 1 of 2)" in str(failure(model_of(server, timeout_s=5)))
    monkeypatch.setattr("rulesafe_design.endpoint.MAX_REPLY_BYTES", 1000)
    server.send_endless_body(status=401)
    assert "HTTP 401: (no message) (try 1 of 3)" in str(failure(model))


def test_connection_refused(key):
    gone = Endpoint("tester", "http://127.0.0.1:9/v1", tries=2)
    error = failure(OpenAIModel(gone))
    assert (error.kind, error.retries) == ("connection", {"connection": 2})
    assert "no connection to http://127.0.0.1:9/v1/: " in str(error)
    assert "refused" in str(error)


def test_an_endpoint_that_sends_the_key_back(server, model, key):
    server.fail(401, f"{'x' * 290} {key} is wrong")
    server.reply(f"your key is {key}")
    assert key[:8] not in str(failure(model))
    assert key not in model.complete(REQUEST).text


def test_key_is_read_from_the_environment(server, monkeypatch, key):
    monkeypatch.delenv("OPENAI_API_KEY")
    server.reply("{}")
    OpenAIModel(Endpoint("tester", server.url)).complete(REQUEST)
    assert server.requests[0]["headers"]["authorization"] == "Bearer none"
    with pytest.raises(RuleSafeError, match="OPENAI_API_KEY"):
        OpenAIModel(Endpoint("tester", "https://models.example/v1"))
    with pytest.raises(RuleSafeError, match="OPENAI_API_KEY"):
        OpenAIModel(Endpoint("tester"))


@pytest.mark.parametrize("wrong", ["two words", "line\nbreak", "schlüssel"])
def test_invalid_key_is_not_in_the_message(monkeypatch, wrong):
    monkeypatch.setenv("OPENAI_API_KEY", wrong)
    with pytest.raises(RuleSafeError, match="OPENAI_API_KEY is not a valid key") as raised:
        OpenAIModel(Endpoint("tester", "http://127.0.0.1:9/v1"))
    assert wrong not in str(raised.value)


@pytest.mark.parametrize("url", ["http://me:pass@host/v1", "http://host/v1?api-key=pass"])
def test_url_with_a_secret_is_refused(url):
    with pytest.raises(RuleSafeError) as raised:
        Endpoint("tester", url)
    assert "pass" not in str(raised.value).replace("password", "")


@pytest.mark.parametrize("url", ["", "host:80", "ftp://host", "http://", "http://[::1"])
def test_invalid_urls(url):
    with pytest.raises(RuleSafeError, match="not a base URL"):
        check_url(url)


def test_endpoint_needs_a_name_and_a_try():
    with pytest.raises(RuleSafeError, match="name"):
        Endpoint(" ")
    with pytest.raises(RuleSafeError, match="tries is 0"):
        Endpoint("tester", tries=0)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf"), -1.0, 1e300])
@pytest.mark.parametrize("name", ["timeout_s", "temperature"])
def test_settings_are_finite(name, value):
    with pytest.raises(RuleSafeError, match=f"{name} is .*valid: "):
        Endpoint("tester", **{name: value})


def test_missing_client_names_the_package():
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
    assert "openai is not installed: make setup or pip install" in done.stdout
    assert "'.[llm]'" in done.stdout
