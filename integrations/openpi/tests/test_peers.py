"""openpi's own client and server, from the package index, with our server and client."""

import json
import signal
import subprocess
import sys

import pytest

from policy_node.loading import find_policy
from rulesafe_core.errors import RuleSafeError


@pytest.fixture(scope="module")
def openpi(peers):
    """The environment with openpi's client and server from the package index. Their requirement of
    numpy 1 is not that of their code."""
    return peers("openpi", "openpi-client==0.1.2", "openpi-server==0.1.0")


SERVER = """
import socket
import numpy as np
from openpi_server import WebsocketPolicyServer

class Hold:
    def infer(self, obs):
        image = obs["observation/image"]
        assert image.shape == (224, 224, 3) and image.dtype == np.uint8 and obs["prompt"]
        assert obs["observation/wrist_image"].shape == (224, 224, 3)
        return {"actions": np.repeat(obs["observation/state"][None], 16, axis=0)}

with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
print(port, flush=True)
WebsocketPolicyServer(Hold(), "127.0.0.1", port).serve_forever()
"""

CLIENT = """
import json
import sys
import numpy as np
from openpi_client.websocket_client_policy import WebsocketClientPolicy

policy = WebsocketClientPolicy("127.0.0.1", int(sys.argv[1]))
message = {"observation/state": np.zeros(13), "prompt": "Open the knob."}
message["observation/points"] = np.zeros((1, 256, 6), np.float32)
shapes = [policy.infer(message)["actions"].shape for _ in range(2)]
del message["prompt"]
try:
    policy.infer(message)
except RuntimeError as error:
    print(json.dumps([policy.get_server_metadata(), shapes, str(error)]))
"""


@pytest.mark.episode
def test_a_policy_of_openpis_server_is_evaluated(openpi, tmp_path):
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER], env=openpi, stdout=subprocess.PIPE, text=True
    )
    try:
        name = f"openpi://127.0.0.1:{int(server.stdout.readline())}"
        for _ in range(600):
            try:
                find_policy(name).close()
                break
            except RuleSafeError:
                assert server.poll() is None
        command = [sys.executable, "-m", "rulesafe_cli.cli", "eval", "--policy", name]
        command += ["--rules", "rule_002", "--episodes", "2", "--safes", "safe_02"]
        command += ["--films", "0", "--step-seconds", "2", "--out", str(tmp_path)]
        run = subprocess.run(command, capture_output=True, text=True, timeout=600)
        assert run.returncode == 0, run.stderr
    finally:
        server.kill()
        server.wait()
    found = json.loads((tmp_path / "results.json").read_text())
    actor = {"kind": "remote", "name": name, "memory": None, "server": None}
    assert found["request"]["actor"] == actor
    assert [episode["frames"] for episode in found["episodes"]] == [40, 40]
    assert found["timing"]["inferences"] == 8 and found["timing"]["inference_median_ms"] > 0


def test_openpis_client_uses_our_server(openpi):
    pytest.importorskip("torch")
    serving = [sys.executable, "-m", "rulesafe_cli.cli", "policy", "serve", "two_level_all_rules"]
    server = subprocess.Popen([*serving, "--port", "0"], stdout=subprocess.PIPE, text=True)
    try:
        line = server.stdout.readline()
        assert line.startswith("serving two_level_all_rules on openpi://127.0.0.1:")
        port = line.strip().rpartition(":")[2]
        run = subprocess.run(
            [sys.executable, "-c", CLIENT, port],
            env=openpi,
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert run.returncode == 0, run.stderr
        metadata, shapes, error = json.loads(run.stdout)
        assert metadata["rulesafe"]["memory"]["kind"] == "vq" and shapes == [[50, 13]] * 2
        assert "the policy requires 'prompt', a text" in error
        server.send_signal(signal.SIGTERM)
        assert server.communicate(timeout=60)[0] == "stopped\n" and server.returncode == 0
    finally:
        server.kill()
        server.wait()
