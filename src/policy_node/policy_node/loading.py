"""Load a policy by name: a checkpoint, a class of another module, or the policy of a server.

Example of a class in a file hold_still.py on the PYTHONPATH; its name is `hold_still:HoldStill`::

    class HoldStill:
        needs = Needs()

        def reset(self): ...

        def infer(self, observation):
            return np.repeat(observation.joints[-1:], CHUNK, axis=0)
"""

import importlib
from collections.abc import Collection
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_node.policy import Needs, Policy, check_chunk
from rulesafe_core.errors import RuleSafeError, missing_package
from rulesafe_core.plugins import format_trace, import_object, is_reference
from vq_memory_node.memory import Memory, NoMemory

PROTOCOLS = {"openpi": "OpenpiPolicy", "groot": "GrootPolicy"}
"""Scheme of the address of a policy server -> class of its client, in the module of that name."""

RULESAFE = "rulesafe"
"""Key of a server's metadata that describes its policy, if the server is of RuleSafe."""


def find_policy(name: str, threads: int = 1, device: str = "cpu") -> Policy:
    """Return the policy of this name.

    Args:
        name: name of a shipped policy, folder of a checkpoint, `module:Class`: an importable
            `Policy` class, which is instantiated without arguments, or the address of a
            policy server, openpi://HOST:PORT or groot://HOST:PORT, see `openpi` and `groot`.
        threads: number of threads that torch uses in this process from now on. It can change the
            last bits of a network's output; an evaluation in process uses 1.
        device: torch device of a checkpoint, such as "cpu" or "cuda".

    Raises:
        RuleSafeError: there is no such policy or device, or the class is not a `Policy`.
    """
    _check_given(name)
    if is_remote(name):
        remote_policy: Policy = _client(name)(name)
        return remote_policy
    if is_reference(name):
        return _instance(name)
    import torch  # here, since policy classes may not need torch

    from policy_node.network_policy import load_policy

    torch.set_num_threads(threads)
    return load_policy(name, device)


def check_policy(name: str) -> None:
    """Check that `find_policy` finds this policy, without its slow parts: a class is imported and
    not instantiated, the weights of a checkpoint are not read, a server is not contacted. Raises
    RuleSafeError."""
    _check_given(name)
    if is_remote(name):
        _client(name).parse(name)
        return
    if is_reference(name):
        import_object(name)
        return
    from policy_node.checkpoints import read_policy  # here, since it imports torch

    read_policy(name, weights=False)


def _check_given(name: str) -> None:
    if not name:
        raise RuleSafeError(
            "no policy given; valid: shipped policy, checkpoint folder, module:Class or "
            + " or ".join(f"{scheme}://HOST:PORT" for scheme in PROTOCOLS)
        )


def is_remote(name: str) -> bool:
    """Return whether a name is the address of a policy server."""
    return name.startswith(tuple(f"{scheme}://" for scheme in PROTOCOLS))


def _client(name: str) -> Any:
    """Return the class of the client for the address of a policy server."""
    scheme = name.partition("://")[0]
    return getattr(import_remote(scheme), PROTOCOLS[scheme])


def import_remote(name: str) -> ModuleType:
    """Return a module of this package whose packages may not be installed: a client of PROTOCOLS or
    `serve`. Raises RuleSafeError with how to install them."""
    try:
        return importlib.import_module(f"policy_node.{name}")
    except ImportError as error:
        raise missing_package(error) from None


def checked_chunk(output: Any) -> NDArray[np.float32]:
    """Return the output of a policy as a chunk (n, 13), rad; raise RuleSafeError if it is not
    one, without a traceback: the error is in the policy, not in this package."""
    try:
        return check_chunk(output)
    except ValueError as error:
        raise RuleSafeError(str(error)) from None


def _instance(name: str) -> Policy:
    kind = import_object(name)
    try:
        policy: Policy = kind()
    except RuleSafeError:
        raise
    except Exception as error:
        # An error of the call itself, such as a missing argument, has no frame in the policy.
        within = error.__traceback__ and error.__traceback__.tb_next
        details = f"\n{format_trace(error, __file__)}" if within else f" {error}"
        raise RuleSafeError(f"policy {name!r} cannot be instantiated:{details}") from error
    if not isinstance(getattr(policy, "needs", None), Needs):
        raise RuleSafeError(f"{name!r} is not a policy: `needs` must be a policy_node.policy.Needs")
    for method in ("reset", "infer"):
        if not callable(getattr(policy, method, None)):
            raise RuleSafeError(f"{name!r} is not a policy: it has no method {method}()")
    return policy


def close_policy(policy: Policy) -> None:
    """Close the connection of a remote policy; other policies hold nothing."""
    if close := getattr(policy, "close", None):
        close()


def memory_of_policy(policy: Policy, inputs: Collection[str] = ("positions",)) -> Memory:
    """Return the memory of a policy: its attribute `memory`; by default a NoMemory.

    Args:
        policy: the policy.
        inputs: inputs of memories that the caller can provide. Privileged ones exist in an
            evaluation in process only.

    Raises:
        RuleSafeError: the attribute is not a Memory, `needs` requires one and there is none, or the
            memory has another input.
    """
    memory = getattr(policy, "memory", None) or NoMemory()
    if not isinstance(memory, Memory) or (policy.needs.memory and not memory.length):
        raise RuleSafeError(
            "a policy with Needs(memory=True) requires an attribute `memory`, a "
            f"vq_memory_node.memory.Memory; this one has {getattr(policy, 'memory', None)!r}"
        )
    if memory.input not in inputs:
        raise RuleSafeError(
            f"the policy's memory {type(memory).__name__} observes {memory.input}"
            f"{', which are privileged' if memory.privileged else ''}; such a policy runs in "
            "`rulesafe eval` and `rulesafe policy open-loop` only"
        )
    return memory
