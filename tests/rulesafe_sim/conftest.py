"""What several tests of the simulation share."""

import os
import subprocess
import sys
from collections.abc import Callable

import pytest


@pytest.fixture(scope="session")
def fresh_process() -> Callable[..., str]:
    """Runs Python code in a process of its own, with environment variables; what it printed."""

    def run(code: str, **environment: str) -> str:
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
            env={**os.environ, **environment},
        )
        return done.stdout.strip()

    return run
