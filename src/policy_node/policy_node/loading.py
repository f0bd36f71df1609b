"""A policy by its name: a trained one, or a class of the user's own.

Example of a class, in a file hold_still.py on the PYTHONPATH; its name is `hold_still:HoldStill`::

    class HoldStill:
        needs = Needs()

        def reset(self): ...

        def infer(self, observation):
            return np.repeat(observation.joints[-1:], CHUNK, axis=0)
"""

import importlib

from policy_node.memories import MemoryConfig, NoneMemory
from policy_node.policy import Needs, Policy
from rulesafe_sim.errors import RuleSafeError


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

    from policy_node.checkpoints import load_policy

    torch.set_num_threads(threads)
    return load_policy(name)


def names_class(name: str) -> bool:
    """Whether a policy's name is module:Class; a folder's path may have colons too."""
    module, colon, class_name = name.partition(":")
    return bool(colon) and module.replace(".", "").isidentifier() and class_name.isidentifier()


def _instance(name: str, module: str, class_name: str) -> Policy:
    try:
        kind = getattr(importlib.import_module(module), class_name)
    except (ImportError, AttributeError) as error:
        raise RuleSafeError(
            f"no policy {name!r}: {error}. The module must be on the PYTHONPATH"
        ) from error
    try:
        policy = kind()
    except TypeError as error:
        raise RuleSafeError(f"policy {name!r} cannot be made: {error}") from error
    if not isinstance(getattr(policy, "needs", None), Needs):
        raise RuleSafeError(f"{name!r} is no policy: its `needs` must be a policy_node Needs")
    for method in ("reset", "infer"):
        if not callable(getattr(policy, method, None)):
            raise RuleSafeError(f"{name!r} is no policy: it has no method {method}()")
    return policy


def memory_of_policy(policy: Policy) -> MemoryConfig:
    """The memory that a policy was trained with: its attribute `memory`; none where it has none.

    Errors: RuleSafeError where it needs one and does not say which.
    """
    memory = getattr(policy, "memory", None)
    if memory is None:
        memory = NoneMemory()
    if policy.needs.memory and memory.shape.kind == "none":
        raise RuleSafeError(
            "the policy needs a memory and does not say which: give it an attribute `memory`, one "
            "of policy_node.memories"
        )
    return memory
