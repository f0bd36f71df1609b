"""`rulesafe policy serve`, and the format lerobot-v2.1 of `rulesafe demos export`."""

import signal
from collections.abc import Mapping
from pathlib import Path
from threading import Thread
from types import MappingProxyType
from typing import Annotated, Any

import tyro

from rulesafe_core.errors import RuleSafeError, resumable
from rulesafe_core.settings import check_positive
from rulesafe_locks.instructions import MAX_TOKENS, Length, token_bound


def serve(
    name: Annotated[str, tyro.conf.Positional],
    host: str = "127.0.0.1",
    port: int = 8000,
    execute: int = 12,
    connections: int = 4,
    threads: int = 1,
    device: str = "cpu",
) -> None:
    """Serve a policy by the WebSocket protocol of openpi's policy servers, until Ctrl-C or SIGTERM.

    Each connection is one episode with its own memory. openpi's client and
    `rulesafe eval --policy openpi://HOST:PORT` can use it. If the environment variable
    RULESAFE_API_KEY is set, clients have to send this key.

    Example: rulesafe policy serve two_level_all_rules --port 8000

    Args:
        name: Name of a shipped policy, folder of a checkpoint, or module:Class on the PYTHONPATH.
        host: Address to listen on; other machines can connect to 0.0.0.0. There is no encryption.
        port: Port to listen on; 0: a free one.
        execute: Number of steps of a chunk that clients execute before the next observation. It
            matters only for clients that do not send all joint positions, such as openpi's.
        connections: Maximum number of simultaneous connections.
        threads: Number of CPU threads of the policy.
        device: Torch device of a checkpoint, such as cpu or cuda; a class chooses its own.
    """
    from policy_node.checkpoints import file_hashes
    from policy_node.loading import find_policy
    from rulesafe_core.plugins import is_reference
    from rulesafe_openpi.server import PolicyServer
    from rulesafe_openpi.wire import api_key

    check_positive("--execute", execute)
    check_positive("--connections", connections)
    check_positive("--threads", threads)
    if not 0 <= port <= 65535:
        raise RuleSafeError(f"--port is {port}; valid: 0 to 65535")
    about = {"name": name, "files": {} if is_reference(name) else file_hashes(name)}
    key = api_key()
    server = PolicyServer(
        lambda: find_policy(name, threads, device), execute, connections, key, about
    )
    with server.listen(host, port) as listening:
        for number in (signal.SIGINT, signal.SIGTERM):
            # From another thread, since `shutdown` waits until `serve_forever` has returned.
            signal.signal(number, lambda *_: Thread(target=listening.shutdown).start())
        address = listening.socket.getsockname()
        print(f"serving {name} on openpi://{address[0]}:{address[1]}", flush=True)
        listening.serve_forever()
    print("stopped")


@resumable()
def export_v2(
    directory: Path,
    out: Path,
    instruction: Length,
    memory_model: str | None,
    clusters: int | None,
    length: int | None,
    files: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    """Write a dataset in the format `lerobot-v2.1` of `rulesafe demos export`, which describes the
    arguments.

    Args:
        files: path in `out` -> content of additional JSON files.
    """
    from rulesafe_data.bars import ProgressBar
    from rulesafe_data.store import EpisodeStore
    from rulesafe_openpi.dataset import constant_joints, export, exported_memory

    memory = exported_memory(memory_model, clusters, length) if memory_model else None
    with ProgressBar(total=len(EpisodeStore(directory)), unit="episode") as bar:
        texts = export(directory, out, instruction, memory, files, bar.update)
    print(f"wrote {out}")
    if constant := constant_joints(out):
        print(
            f"warning: constant in all episodes (std 0): {', '.join(constant)}. Models that divide "
            "by the std amplify their noise: exclude them, or limit the std from below"
        )
    if over := [text for text in texts if token_bound(text) > MAX_TOKENS]:
        print(
            f"warning: {len(over)} of {len(texts)} instructions have more than an estimated "
            f"{MAX_TOKENS} tokens and may be cut by a model, such as: {over[0]}"
        )
