"""Memories: the summary of an episode's past that a policy receives.

A memory is a frozen dataclass of settings and a function from a window of its input, by default
joint positions, to a value: a token, or 13 numbers. `rolling` collects the values of an episode.
Example::

    memory = make_memory("vq", model="all_rules")
    memory.describe()                  # stored in the policy's checkpoint
    memory_from(memory.describe())     # the same memory, if its tokenizer has not changed
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields
from functools import cached_property
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar, Literal, cast

import numpy as np
from numpy.typing import NDArray

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS
from rulesafe_core.plugins import Registry
from rulesafe_core.settings import Settings, required, setting
from rulesafe_core.text_files import read_json
from vq_memory_node.tokenizers import CLUSTERS, Tokenizer, load_tokenizer
from vq_memory_node.windows import LENGTH, STRIDE, window_at

Input = Literal["positions", "actions", "phases"]
"""What a memory observes at each frame. positions: measured joint positions (13,), rad; actions:
the action (13,), rad, of the frame before, at the first frame the joint positions; phases: whether
knob, handle and door are open (3,), 0 or 1, which is privileged."""

WIDTHS: dict[Input, int] = {
    "positions": len(ACTION_JOINTS),
    "actions": len(ACTION_JOINTS),
    "phases": 3,
}
"""Number of values of each input."""


def past_actions(positions: NDArray[Any], actions: NDArray[Any]) -> NDArray[Any]:
    """Return the input "actions" (N, 13) at all frames of an episode, of its joint positions and
    the actions that followed them (N, 13), rad."""
    return np.concatenate([positions[:1], actions[:-1]])


@dataclass(frozen=True)
class Reading:
    """The values that a memory holds at one frame, oldest first.

    Attributes:
        values: (length,) int64 tokens, or (length, 13) float32 joint positions or actions in rad;
            0 where `mask` is False.
        mask: (length,) bool, False for values that do not exist yet, which come first.
    """

    values: NDArray[Any]
    mask: NDArray[np.bool_]


@dataclass(frozen=True)
class MemoryShape:
    """The shape of a memory's readings, which determines the input of a network.

    Attributes:
        kind: none; raw: vectors of 13 joint positions or actions; tokens: integers.
        length: M, values in a reading; 0 for none.
        vocabulary: J, tokens are 0 .. J - 1; 0 if the kind is not tokens.
    """

    kind: Literal["none", "raw", "tokens"] = "none"
    length: int = 0
    vocabulary: int = 0


@dataclass(frozen=True)
class Memory(Settings, ABC):
    """A memory: settings, and the value of a window of its input.

    A subclass is a frozen dataclass whose fields are its settings, plain values that JSON can hold.
    It has a field `length` and the method `value`. Every frame is a keyframe, unless it overrides
    `is_keyframe`.
    """

    input: ClassVar[Input] = "positions"
    """What the memory observes."""

    safe_frame: ClassVar[bool] = True
    """Whether a policy with a safe frame (policy_node.safe_frame) transforms raw values to it."""

    stride: ClassVar[int] = STRIDE
    """Keyframes between two values of a reading."""

    @property
    @abstractmethod
    def length(self) -> int:
        """M, values in a reading."""

    @property
    def vocabulary(self) -> int:
        """J, tokens are 0 .. J - 1; 0 if the values are joint positions or actions."""
        return 0

    @property
    def window(self) -> int:
        """Number of frames that `value` and `is_keyframe` receive."""
        return 1

    @property
    def timed(self) -> bool:
        """Whether values are at fixed times before the current frame: every frame is a keyframe."""
        return type(self).is_keyframe is Memory.is_keyframe

    @property
    def privileged(self) -> bool:
        """Whether the memory contains state of the lock, which the robot cannot measure."""
        return self.input == "phases"

    @property
    def hash(self) -> str:
        """Hash of everything else that determines the values, such as weights; may be empty."""
        return ""

    @abstractmethod
    def value(self, window: NDArray[np.float32]) -> Any:
        """Return the value, a token or (13,) float32, of a window (self.window, 13), rad, or
        (self.window, 3) of the phases."""

    def checked_value(self, window: NDArray[np.float32]) -> Any:
        """Return `value`. Raises RuleSafeError if the class returned none of this shape."""
        value = self.value(window)
        if not self.length:
            return value
        found = np.asarray(value)
        if self.vocabulary:
            tokens = found.shape == () and found.dtype.kind in "iufb"
            valid = tokens and 0 <= found < self.vocabulary and found == int(found)
            expected = f"an integer, 0 to {self.vocabulary - 1}"
        else:
            valid = found.shape == (len(ACTION_JOINTS),) and found.dtype.kind in "iuf"
            valid, expected = valid and bool(np.isfinite(found).all()), "13 finite numbers"
        if not valid:
            text = f"{type(self).__name__}.value() returned {value!r:.60}; valid: {expected}"
            raise RuleSafeError(text)
        return value

    def is_keyframe(self, window: NDArray[np.float32]) -> bool:
        """Return whether the last frame of a window is a keyframe: others have no value."""
        return True

    @property
    def shape(self) -> MemoryShape:
        """The shape of the readings."""
        if not self.length:
            return MemoryShape()
        return MemoryShape("tokens" if self.vocabulary else "raw", self.length, self.vocabulary)

    def zeros(self, count: int) -> NDArray[Any]:
        """Return `count` values of zero: (count,) int64, or (count, 13) float32."""
        if self.shape.kind == "raw":
            return np.zeros((count, len(ACTION_JOINTS)), np.float32)
        return np.zeros(count, np.int64)

    def keyframes(self, inputs: NDArray[np.float32]) -> NDArray[np.int64]:
        """Return the keyframes (K,) of an episode (N, 13), rad, or (N, 3).

        Raises:
            RuleSafeError: the inputs have another shape or are not finite.
        """
        inputs = self._checked(inputs)
        if self.timed:
            return np.arange(len(inputs))
        windows = (window_at(inputs, frame, self.window) for frame in range(len(inputs)))
        return np.flatnonzero([self.is_keyframe(window) for window in windows])

    def values_at(self, inputs: NDArray[np.float32], frames: NDArray[np.int64]) -> NDArray[Any]:
        """Return the values of the windows that end at `frames` (F,) of an episode (N, 13), rad, or
        (N, 3).

        Raises:
            RuleSafeError: the inputs have another shape or are not finite.
        """
        inputs = self._checked(inputs)
        values = self.zeros(len(frames))
        for place, frame in enumerate(frames):
            values[place] = self.checked_value(window_at(inputs, frame, self.window))
        return values

    def _checked(self, inputs: NDArray[np.float32]) -> NDArray[np.float32]:
        inputs, width = np.ascontiguousarray(inputs, np.float32), WIDTHS[self.input]
        if inputs.ndim != 2 or inputs.shape[1] != width:
            raise RuleSafeError(f"an episode's {self.input} are (N, {width}), got {inputs.shape}")
        if not np.isfinite(inputs).all():
            raise RuleSafeError(f"an episode's {self.input} must be finite")
        return inputs

    def describe(self) -> dict[str, Any]:
        """Return the name of the kind, the settings, the hash if there is one, and whether the
        memory is privileged if it is.

        Raises:
            RuleSafeError: the memory depends on a model that cannot be loaded.
        """
        kind = type(self)
        names = [name for name, builtin in MEMORIES.builtin.items() if builtin is kind]
        name = names[0] if names else f"{kind.__module__}:{kind.__qualname__}"
        facts = {"hash": self.hash, "privileged": self.privileged}
        return {"kind": name, **asdict(self), **{key: fact for key, fact in facts.items() if fact}}


@dataclass(frozen=True)
class NoMemory(Memory):
    """No memory: the policy receives only the current observation."""

    @property
    def length(self) -> int:
        return 0

    def value(self, window: NDArray[np.float32]) -> int:
        return 0


@dataclass(frozen=True)
class RawMemory(Memory):
    """Raw joint positions, at the same instants as the tokens of `VqMemory`."""

    length: int = setting(LENGTH, "M, number of stored joint positions, 2 s apart.", 1)

    def value(self, window: NDArray[np.float32]) -> NDArray[np.float32]:
        return window[-1]


@dataclass(frozen=True)
class TokenMemory(Memory):
    """Tokens of a trained model."""

    model: str = required()
    clusters: int = setting(
        CLUSTERS, "J, number of tokens; the model's model.json lists valid ones."
    )
    length: int = setting(LENGTH, "M, number of stored tokens, 2 s apart.", 1)

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer of the model.

        Raises:
            RuleSafeError: the model is missing or damaged.
        """
        return load_tokenizer(self.model, self.clusters)

    @property
    def vocabulary(self) -> int:
        return self.clusters

    @property
    def window(self) -> int:
        return self.tokenizer.window

    @property
    def hash(self) -> str:
        return self.tokenizer.hash

    def value(self, window: NDArray[np.float32]) -> int:
        return self.tokenizer.token(window)


@dataclass(frozen=True)
class VqMemory(TokenMemory):
    """Tokens of a VQ-VAE, whose codes are merged into a few clusters."""

    model: str = "all_rules"


MEMORIES: Registry[type[Memory]] = Registry(
    "rulesafe.memories",
    "memory",
    {"none": NoMemory, "raw": RawMemory, "vq": VqMemory},
)


def make_memory(kind: str, **settings: Any) -> Memory:
    """Make a memory; settings that are None take their defaults.

    Args:
        kind: name in MEMORIES.
        settings: fields of the class.

    Raises:
        RuleSafeError: the kind is unknown, or a setting is unknown or missing.
    """
    made: object = MEMORIES.load(kind)
    if not (isinstance(made, type) and issubclass(made, Memory)):
        raise RuleSafeError(f"{kind!r} must be a subclass of vq_memory_node.memory.Memory")
    given = {name: value for name, value in settings.items() if value is not None}
    valid = {field.name: field.default for field in fields(made)}
    for name in given:
        if name not in valid:
            listed = ", ".join(valid) or "none"
            raise RuleSafeError(f"the memory {kind} has no setting {name!r}; it has: {listed}")
    for name, default in valid.items():
        if default is MISSING and name not in given:
            raise RuleSafeError(f"the memory {kind} requires the setting {name!r}")
    return made(**given)


def memory_from(description: Mapping[str, Any]) -> Memory:
    """Make the memory that `Memory.describe` described.

    Raises:
        RuleSafeError: the description is not valid, its module would run without the user's
            consent, or the tokenizer is missing or has changed.
    """
    settings = dict(description)
    trained = settings.pop("hash", None)
    settings.pop("privileged", None)  # known from the class
    kind = str(settings.pop("kind", ""))
    MEMORIES.check_consent(kind)
    memory = make_memory(kind, **settings)
    found = memory.describe().get("hash")
    if found != trained:
        raise RuleSafeError(
            f"the memory model {settings.get('model')} has changed since the training: "
            f"hash {str(found)[:12]}, expected {str(trained)[:12]}"
        )
    return memory


def published_memory(policy: str, model: str = "", clusters: int = 0, length: int = 0) -> VqMemory:
    """Return the tokens that a policy was trained with.

    Args:
        policy: name of a shipped policy, or folder of a checkpoint. A policy without VQ memory, and
            one that is no checkpoint, has the default memory.
        model: name or folder of another model; empty: the policy's.
        clusters: another vocabulary size; 0: the policy's.
        length: another number of tokens; 0: the policy's.

    Raises:
        RuleSafeError: the policy's memory cannot be described or has changed since the training.
    """
    default = VqMemory()
    folders = [Path(policy)] if policy else []
    if policy and find_spec("policy_node"):  # this package can be installed without it
        folders.insert(0, Path(str(files("policy_node"))) / "data/policies" / policy)
    for file in [folder / "policy.json" for folder in folders]:
        if file.is_file():
            about = read_json(file, "the description of a policy")
            stored = about.get("memory") if isinstance(about, dict) else None
            if isinstance(stored, dict) and stored.get("kind") == "vq":
                default = cast(VqMemory, memory_from(stored))
            break
    return VqMemory(model or default.model, clusters or default.clusters, length or default.length)
