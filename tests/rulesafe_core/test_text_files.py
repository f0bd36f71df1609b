"""Files that are no text, too large, too deep or hostile to a terminal."""

import os
import socket
import threading

import pytest

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.strict_yaml import parse_yaml, read_yaml
from rulesafe_core.text_files import (
    MAX_BYTES,
    MAX_MESSAGE,
    parse_json,
    parse_xml,
    printable,
    read_bytes,
    read_json,
    read_text,
    shown_error,
)

LEVELS = 100_000
ANCHORS = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 10)
)
MERGES = "a0: &a0 {x: 1}\n" + "".join(
    f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 10)}]}}\n" for n in range(1, 10)
)


def sparse(path):
    with path.open("wb") as file:
        file.truncate(3 * 10**9)


def unix_socket(path):
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (os.mkfifo, "a named pipe; valid: a regular file"),
        (os.mkdir, "is a folder; valid"),
        (unix_socket, "cannot read|a socket; valid"),
        (lambda path: path.symlink_to("/dev/zero"), "a device; valid"),
        (sparse, f"larger than the limit of {MAX_BYTES} bytes"),
        (lambda path: path.write_bytes(b"\xff\xfe"), "not UTF-8"),
        (lambda path: path.write_text("one\ntwo\x1b]0;title\x07"), r"line 2: control .* U\+001B"),
        (lambda path: path.write_text("\x9b31m"), r"line 1: control character U\+009B"),
    ],
)
def test_only_bounded_text_is_read_and_nothing_waits(tmp_path, make, message):
    path = tmp_path / "source"
    make(path)
    failures = []

    def read():
        with pytest.raises(RuleSafeError, match=message):
            read_text(path)
        failures.append("refused")

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    thread.join(20)
    assert failures == ["refused"]


def test_a_file_that_does_not_exist_is_told_apart(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_bytes(tmp_path / "none")


@pytest.mark.parametrize(
    "text",
    [
        *("[" * LEVELS, "[" * 1000 + "]" * 1000, "{a: " * 500 + "}" * 500, ANCHORS, MERGES),
        *("&a [*a]", "&a {b: *a}", "- " * LEVELS, "? " * 2000, "x" * 2_000_000),
        *("2001-99-99", "!!timestamp x", "!!int x", "!!bool x", "!!float x", "!!binary é"),
        *("!!python/object:os.system x", "1:" * 4000 + "1", "[1]: 2", "\x00", "9" * 10_000),
    ],
    ids=lambda text: f"{text:.12}",
)
def test_hostile_yaml_is_refused_at_once(text):
    with pytest.raises(ValueError) as refused:
        parse_yaml(text)
    assert not isinstance(refused.value, UnicodeError)


@pytest.mark.parametrize("form", ["- *a\n", "- {*a : 1}\n"])
def test_aliases_of_a_long_text_are_refused_at_once(form, tmp_path):
    """Each of them would be copied into an error message, or if it is cleaned."""
    path = tmp_path / "file.yaml"
    path.write_text(f"- &a '{'x' * 40_000}'\n" + form * 3000)
    with pytest.raises(RuleSafeError, match="more than 100000 values"):
        read_yaml(path)
    path.write_text("- &a 'x'\n" + form * 20_000)
    with pytest.raises(RuleSafeError, match="must be a mapping") as refused:
        read_yaml(path)
    assert len(str(refused.value)) < 300


def test_aliases_and_anchors_within_the_limits_are_read():
    assert parse_yaml("a: &x [1, 2]\nb: *x") == {"a": [1, 2], "b": [1, 2]}


def test_a_merge_of_mappings_is_not_supported(tmp_path):
    (tmp_path / "file.yaml").write_text("a: &a {x: 1}\nb: {<<: *a}")
    with pytest.raises(RuleSafeError, match="merge"):
        read_yaml(tmp_path / "file.yaml")


@pytest.mark.parametrize(
    "text",
    ["[" * LEVELS, "[" * 200 + "]" * 200, '{"a":' * 900 + "1" + "}" * 900],
    ids=range(3),
)
def test_deep_json_is_refused(text):
    with pytest.raises(ValueError):
        parse_json(text)


def test_a_key_that_occurs_twice_is_refused(tmp_path):
    path = tmp_path / "x.json"
    path.write_text('{"a": {"b": 1, "c": 2, "b": 3}}')
    with pytest.raises(RuleSafeError, match="is not a test: the key 'b' occurs twice"):
        read_json(path, "a test")


def test_halves_of_surrogate_pairs_are_replaced(tmp_path):
    path = tmp_path / "x.json"
    path.write_text(r'{"a\udfff": ["x\ud800", "\ud83d\ude00"]}')
    assert read_json(path, "a test") == {"a<U+DFFF>": ["x<U+D800>", "\U0001f600"]}


def test_texts_of_a_file_cannot_control_the_terminal(tmp_path):
    path = tmp_path / "file.json"
    path.write_text('{"a\\u001b": ["\\u001b]0;title\\u0007", "\\u009b", "line\\nbreak"]}')
    found = read_json(path, "a test")
    assert found == {"a<U+001B>": ["<U+001B>]0;title<U+0007>", "<U+009B>", "line\nbreak"]}
    assert parse_yaml('a: "\\e[31m"') == {"a": "<U+001B>[31m"}
    for content in ("[]", "1", '"policy"', "null"):
        path.write_text(content)
        with pytest.raises(RuleSafeError, match="is not a test: it must be an object"):
            read_json(path, "a test")


def test_xml_is_bounded():
    for text in (
        "<a>" * LEVELS,
        "<a>" * 100 + "</a>" * 100,
        '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>',
        "<a>" + " " * MAX_BYTES + "</a>",
    ):
        with pytest.raises((RuleSafeError, SyntaxError)):
            parse_xml(text)
    assert parse_xml("<a><b/></a>").find("b") is not None


def test_error_messages_are_short_and_printable():
    assert shown_error(RuleSafeError("\x1b[31m" + "x" * 10**6)).startswith("<U+001B>[31mxxx")
    assert len(shown_error(RuleSafeError("x" * 10**6))) < MAX_MESSAGE + 10
    assert printable("plain\ttext\n") == "plain\ttext\n"
