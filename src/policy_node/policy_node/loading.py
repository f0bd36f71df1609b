"""Load a policy by name: a checkpoint, a class of another module, or a policy at an address.

Example of a class in a file hold_still.py on the PYTHONPATH; its name is `hold_still:HoldStill`::

    class HoldStill:
        needs = Needs()

        def reset(self): ...

        def infer(self, observation):
            return np.repeat(observation.joints[-1:], CHUNK, axis=0)
"""

import sys
from collections.abc import Callable, Collection
from typing import Any

from policy_node.policy import Needs, Policy
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.plugins import Registry, format_trace, import_object, is_reference
from vq_memory_node.memory import Memory, NoMemory

SCHEMES: Registry[Any] = Registry("rulesafe.policy_schemes", "scheme of a policy's address")
"""The schemes of addresses: `openpi` is that of openpi://HOST:PORT. The object is a `Policy`
class that is instantiated with the address. Its class method `parse(address)` checks an address
without a connection; its attribute `metadata` has facts about the policy for results."""


def print_warning(text: str) -> None:
    """Print a warning to stderr."""
    print(f"warning: {text}", file=sys.stderr)


def find_policy(
    name: str,
    threads: int = 1,
    device: str = "cpu",
    warn: Callable[[str], object] = print_warning,
) -> Policy:
    """Return the policy of this name.

    Args:
        name: name of a shipped policy, folder of a checkpoint, `module:Class`: an importable
            `Policy` class, which is instantiated without arguments, or an address of an installed
            scheme, such as openpi://HOST:PORT.
        threads: number of threads that torch uses in this process from now on. It can change the
            last bits of a network's output; an evaluation in process uses 1.
        device: torch device of a checkpoint, such as "cpu" or "cuda".
        warn: called with a warning if the policy was trained on images or point clouds of another
            renderer.

    Raises:
        RuleSafeError: there is no such policy or device, or the class is not a `Policy`.
    """
    _check_given(name)
    if scheme := scheme_of(name):
        remote_policy: Policy = SCHEMES.load(scheme)(name)
        return remote_policy
    if is_reference(name):
        return _instance(name)
    import torch  # here, since policy classes may not need torch

    from policy_node.network_policy import load_policy
    from policy_node.renderers import other_renderer

    torch.set_num_threads(threads)
    policy = load_policy(name, device)
    if text := other_renderer(policy.checkpoint):
        warn(f"{name}: {text}")
    return policy


def check_policy(name: str) -> None:
    """Check that `find_policy` finds this policy, without its slow parts: a class is imported and
    not instantiated, the weights of a checkpoint are not read, a server is not contacted. Raises
    RuleSafeError."""
    _check_given(name)
    if scheme := scheme_of(name):
        SCHEMES.load(scheme).parse(name)
        return
    if is_reference(name):
        import_object(name)
        return
    from policy_node.checkpoints import read_policy  # here, since it imports torch

    read_policy(name, weights=False)


def _check_given(name: str) -> None:
    if not name:
        raise RuleSafeError(
            "no policy given; valid: shipped policy, checkpoint folder, module:Class"
            + "".join(f", {address}" for address in addresses())
        )


def scheme_of(name: str) -> str:
    """Return the scheme of an address SCHEME://..., or "" if a policy's name is no address."""
    return name.partition("://")[0] if "://" in name else ""


def addresses() -> list[str]:
    """Return the forms of addresses whose schemes are installed."""
    return [f"{scheme}://HOST:PORT" for scheme in SCHEMES.names()]


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
