"""A policy by its name: a trained one, or a class of the user's own.

Example of a class, in a file hold_still.py on the PYTHONPATH; its name is `hold_still:HoldStill`::

    class HoldStill:
        needs = Needs()

        def reset(self): ...

        def infer(self, observation):
            return np.repeat(observation.joints[-1:], CHUNK, axis=0)
"""

import importlib
import traceback
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_node.policy import Needs, Policy, check_chunk
from rulesafe_core.errors import RuleSafeError, unknown_name
from vq_memory_node.memory import Memory, NoMemory


def find_policy(name: str, threads: int = 1) -> Policy:
    """The policy of that name: `module:Class` makes an instance of an importable class that is a
    `Policy`, without arguments; all else is a checkpoint that comes with the package, or one's
    folder.

    Args:
        name: of the policy.
        threads: that torch may use from then on, in this process. The number can change the last
            bits of a network's chunk; an evaluation in process uses one.

    Errors: RuleSafeError where there is no such policy, or it is none.
    """
    if not name:
        raise RuleSafeError("no policy is named: give a checkpoint, its folder, or module:Class")
    if names_class(name):
        return _instance(name, *name.split(":"))
    import torch  # here, since a class may do without

    from policy_node.network_policy import load_policy

    torch.set_num_threads(threads)
    return load_policy(name)


def names_class(name: str) -> bool:
    """Whether a policy's name is module:Class; a folder's path may have colons too."""
    module, colon, class_name = name.partition(":")
    return bool(colon) and module.replace(".", "").isidentifier() and class_name.isidentifier()


def trace_of(error: Exception, *files: str) -> str:
    """An error and where it comes from, as lines for who wrote a policy: without the frames before
    the first one that is in none of these files, nor in Python's own import."""
    skipped = (*files, importlib.__file__, "<frozen importlib")
    frame = error.__traceback__
    while frame and (name := frame.tb_frame.f_code.co_filename) and name.startswith(skipped):
        frame = frame.tb_next
    return "".join(traceback.format_exception(type(error), error, frame)).rstrip()


def checked_chunk(answer: Any) -> NDArray[np.float32]:
    """A policy's answer as a chunk (CHUNK, 13), rad. Errors: RuleSafeError, since who wrote the
    policy can mend it: no trace of this package's calls would tell more."""
    try:
        return check_chunk(answer)
    except ValueError as error:
        raise RuleSafeError(str(error)) from None


def _instance(name: str, module: str, class_name: str) -> Policy:
    try:
        found = importlib.import_module(module)
    except Exception as error:
        if isinstance(error, ModuleNotFoundError) and f"{module}.".startswith(f"{error.name}."):
            raise RuleSafeError(
                f"no policy {name!r}: {error}. The module must be on the PYTHONPATH"
            ) from error
        trace = trace_of(error, __file__)
        raise RuleSafeError(f"policy {name!r} cannot be imported:\n{trace}") from error
    kind = getattr(found, class_name, None)
    if kind is None:
        own = [n for n, value in vars(found).items() if getattr(value, "__module__", "") == module]
        raise unknown_name(f"class of {module}", class_name, own)
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
    """The memory that a policy was trained with: its attribute `memory`; none where it has none.

    Errors: RuleSafeError where it needs one and does not say which.
    """
    memory = getattr(policy, "memory", None)
    if memory is None:
        memory = NoMemory()
    if policy.needs.memory and memory.shape.kind == "none":
        raise RuleSafeError(
            "the policy needs a memory and does not say which: give it an attribute `memory`, one "
            "of policy_node.memories"
        )
    return memory
