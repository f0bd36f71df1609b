"""Tests of the authorization of requests and commands."""

import pytest

from rulesafe_core.errors import RuleSafeError
from rulesafe_ros.view.guard import make_guard
from rulesafe_ros.view.options import ViewOptions, is_loopback

LOOPBACK = ("127.0.0.1", "127.1.2.3", "::1", "[::1]", "localhost")
ELSEWHERE = ("0.0.0.0", "::", "192.168.1.5", "localhost.example")


@pytest.mark.parametrize("host", LOOPBACK + ELSEWHERE)
def test_loopback(host):
    local = host in LOOPBACK
    assert is_loopback(host) == local
    assert ViewOptions(host=host).exposed != local


def test_loopback_needs_no_token_but_a_loopback_host_name():
    guard = make_guard(ViewOptions())
    for host in ("localhost:8080", "127.0.0.1:9000", "[::1]:8080"):  # a tunnel has another port
        assert guard.refuse({"Host": host}) is None
    assert guard.refuse_command({}) is None
    # A foreign host name that resolves to loopback, as in DNS rebinding.
    assert "localhost" in guard.refuse({"Host": "evil.example:8080"})
    for wrong in ({}, {"Host": "[::1"}, {"Host": "localhost.evil.example"}):
        assert guard.refuse(wrong) is not None


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_requests_of_foreign_pages_are_rejected(host):
    guard = make_guard(ViewOptions(host=host))
    own = {"Host": "localhost:8080", "Origin": "http://localhost:8080"}
    assert guard.refuse(own) is None
    for origin in ("http://evil.example", "http://localhost:9999", "null", ""):
        assert origin in guard.refuse(own | {"Origin": origin})


def test_commands_to_an_exposed_page_need_the_token():
    guard = make_guard(ViewOptions(host="0.0.0.0", token="sesame"))
    assert guard.refuse({"Host": "192.168.1.5:8080"}) is None  # viewing needs no token
    assert guard.refuse_command({"Authorization": "Bearer sesame"}) is None
    for wrong in ("Bearer sesam", "Bearer ", "Bearer s\udce9same", "Basic sesame", "sesame", ""):
        assert "token" in guard.refuse_command({"Authorization": wrong})
    assert "token" in guard.refuse_command({})


def test_an_exposed_page_has_the_names_of_its_machine_only(monkeypatch):
    """Any other name may be of a website that resolves to this machine (DNS rebinding)."""
    monkeypatch.setattr("socket.gethostname", lambda: "Robot.lab")
    guard = make_guard(ViewOptions(host="0.0.0.0"))
    for host in ("robot:8080", "robot.lab", "ROBOT.lab:80", "10.0.0.7:1", "[fe80::1]:8080"):
        assert guard.refuse({"Host": host}) is None
    for wrong in ("evil.example:8080", "10.0.0.7.evil.example", "robot.evil.example", ""):
        assert "not available as" in guard.refuse({"Host": wrong})
    assert make_guard(ViewOptions(host="view.lab")).refuse({"Host": "view.lab:8080"}) is None


def test_tokens_are_new_each_time_and_long():
    first, second = (make_guard(ViewOptions(host="0.0.0.0")).token for _ in range(2))
    assert first != second and len(first) >= 20


@pytest.mark.parametrize(
    "wrong", [{"port": -1}, {"port": 70000}, {"token": "two words"}, {"token": "é"}]
)
def test_invalid_options_are_errors(wrong):
    with pytest.raises(RuleSafeError, match=r"valid: 0 to 65535|--token"):
        ViewOptions(**wrong)
