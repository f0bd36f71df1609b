"""A policy by its name: a trained one, or a class of another module.

Example of a class, in a file hold_still.py on the PYTHONPATH; its name is `hold_still:HoldStill`::

    class HoldStill:
        needs = Needs()

        def reset(self): ...

        def infer(self, observation):
            return np.repeat(observation.joints[-1:], CHUNK, axis=0)
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_node.policy import Needs, Policy, check_chunk
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.plugins import import_object, is_reference, trace_of
from vq_memory_node.memory import Memory, NoMemory


def find_policy(name: str, threads: int = 1) -> Policy:
    """Return the policy of that name: `module:Class` makes an instance of an importable class that
    is a `Policy`, without arguments; any other name is a checkpoint that comes with the package, or
    the folder of one.

    Args:
        name: of the policy.
        threads: that torch may use from then on, in this process. The number can change the last
            bits of a network's chunk; an evaluation in process uses one.

    Errors: RuleSafeError if there is no such policy, or the class is not a `Policy`.
    """
    if not name:
        raise RuleSafeError("no policy is named: give a checkpoint, its folder, or module:Class")
    if is_reference(name):
        return _instance(name)
    import torch  # here, since a class may do without

    from policy_node.network_policy import load_policy

    torch.set_num_threads(threads)
    return load_policy(name)


def checked_chunk(answer: Any) -> NDArray[np.float32]:
    """A policy's answer as a chunk (CHUNK, 13), rad. Errors: RuleSafeError, since who wrote the
    policy can mend it: no trace of this package's calls would tell more."""
    try:
        return check_chunk(answer)
    except ValueError as error:
        raise RuleSafeError(str(error)) from None


def _instance(name: str) -> Policy:
    kind = import_object(name)
    try:
        policy: Policy = kind()
    except RuleSafeError:
        raise
    except Exception as error:
        # Of what the call itself raises, for want of an argument, there is no place to show.
        within = error.__traceback__ and error.__traceback__.tb_next
        told = f"\n{trace_of(error, __file__)}" if within else f" {error}"
        raise RuleSafeError(f"policy {name!r} cannot be made:{told}") from error
    if not isinstance(getattr(policy, "needs", None), Needs):
        raise RuleSafeError(f"{name!r} is no policy: its `needs` must be a policy_node Needs")
    for method in ("reset", "infer"):
        if not callable(getattr(policy, method, None)):
            raise RuleSafeError(f"{name!r} is no policy: it has no method {method}()")
    return policy


def memory_of_policy(policy: Policy) -> Memory:
    """Return the memory that a policy was trained with: its attribute `memory`; by default none.

    Errors: RuleSafeError if the attribute is not a Memory, or the policy needs one and has none.
    """
    memory = getattr(policy, "memory", None) or NoMemory()
    if not isinstance(memory, Memory) or (policy.needs.memory and not memory.length):
        raise RuleSafeError(
            "a policy that needs a memory has an attribute `memory`, a Memory of "
            f"vq_memory_node.memory; this one has {getattr(policy, 'memory', None)!r}"
        )
    return memory
