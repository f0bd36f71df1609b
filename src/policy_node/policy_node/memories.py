"""Which memory a checkpoint was trained with: a frozen configuration that builds it. No torch.

Example::

    config = make_memory("vq", model="all_rules_hand")
    memory = config.build()            # vq_memory_node.memory.Memory
    config.describe()                  # what the checkpoint keeps
    memory_from(config.describe())     # config again, if its tokenizer is still the same
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, Protocol

from rulesafe_core.errors import RuleSafeError, unknown_name
from vq_memory_node.grids import Sliding
from vq_memory_node.memory import Memory, NoMemory, RawMemory, VqMemory
from vq_memory_node.model_files import load_model
from vq_memory_node.tokenizers import CLUSTERS, TOKENIZERS, Tokenizer
from vq_memory_node.windows import LENGTH


@dataclass(frozen=True)
class MemoryShape:
    """What a network has to take in of a memory.

    Attributes:
        kind: none; raw: rows of 13 normalised joint positions; tokens: whole numbers.
        length: M, values in a reading; 0 for none.
        vocabulary: J, tokens 0 .. J - 1; 0 where there are none.
    """

    kind: Literal["none", "raw", "tokens"] = "none"
    length: int = 0
    vocabulary: int = 0


class MemoryConfig(Protocol):
    """A memory to build, and to write down."""

    @property
    def shape(self) -> MemoryShape:
        """What a network sees of it."""
        ...

    @property
    def length(self) -> int:
        """M, values in a reading."""
        ...

    @property
    def vocabulary(self) -> int:
        """J; 0 where values are joint rows or nothing."""
        ...

    def build(self) -> Memory:
        """The memory. Errors: RuleSafeError if its tokenizer is not there or of another kind."""
        ...

    def describe(self) -> dict[str, Any]:
        """Plain values for a checkpoint: kind, settings, the tokenizer's hash. Errors: as build."""
        ...


class _Shaped:
    """Length and vocabulary as the shape has them."""

    @property
    def shape(self) -> MemoryShape:
        raise NotImplementedError

    @property
    def vocabulary(self) -> int:
        return self.shape.vocabulary


@dataclass(frozen=True)
class NoneMemory(_Shaped):
    """No memory: the policy that sees the present alone."""

    @property
    def length(self) -> int:
        return 0

    @property
    def shape(self) -> MemoryShape:
        return MemoryShape()

    def build(self) -> Memory:
        return NoMemory()

    def describe(self) -> dict[str, Any]:
        return {"kind": "none"}


@dataclass(frozen=True)
class Raw(_Shaped):
    """Past joint positions as they were, at the instants whose tokens `Vq` would hold."""

    length: int = LENGTH

    def __post_init__(self) -> None:
        _check_length(self.length)

    @property
    def shape(self) -> MemoryShape:
        return MemoryShape("raw", self.length)

    def build(self) -> Memory:
        return RawMemory(Sliding(length=self.length))

    def describe(self) -> dict[str, Any]:
        return {"kind": "raw", "length": self.length}


@dataclass(frozen=True)
class _Tokens(_Shaped):
    """Tokens of a tokenizer.

    Attributes:
        model: name of a memory's model that comes with vq_memory_node, or its folder.
        clusters: J, tokens; the model's model.json lists what it offers.
        length: M, tokens remembered, 2 s apart.
    """

    model: str
    clusters: int = CLUSTERS
    length: int = LENGTH

    def __post_init__(self) -> None:
        _check_length(self.length)

    @property
    def kind(self) -> str:
        raise NotImplementedError

    @property
    def shape(self) -> MemoryShape:
        return MemoryShape("tokens", self.length, self.clusters)

    def tokenizer(self) -> Tokenizer:
        """Errors: RuleSafeError if the model is not there, damaged, or of another kind."""
        model = load_model(self.model)
        if model.architecture.kind != self.kind:
            raise RuleSafeError(
                f"the memory's model {self.model} is of the kind {model.architecture.kind}, "
                f"not {self.kind}"
            )
        return TOKENIZERS[self.kind](model, self.clusters)

    def build(self) -> Memory:
        return VqMemory(self.tokenizer(), Sliding(length=self.length))

    def describe(self) -> dict[str, Any]:
        return {"kind": self.kind, **asdict(self), "hash": self.tokenizer().hash}


@dataclass(frozen=True)
class Vq(_Tokens):
    """Tokens of a VQ-VAE, its codes merged into a few clusters; see `_Tokens` for the settings."""

    model: str = "all_rules_hand"

    @property
    def kind(self) -> str:
        return "vq"


@dataclass(frozen=True)
class Fsq(_Tokens):
    """Tokens of finite scalar quantisation. No such model is shipped: name a folder."""

    @property
    def kind(self) -> str:
        return "fsq"


MEMORIES: dict[str, type[NoneMemory] | type[Raw] | type[Vq] | type[Fsq]] = {
    "none": NoneMemory,
    "raw": Raw,
    "vq": Vq,
    "fsq": Fsq,
}


def make_memory(kind: str, **settings: Any) -> MemoryConfig:
    """A memory's configuration by the name of its kind; settings that are None take the default.

    Errors: RuleSafeError for a kind that is unknown, and a setting that it has not or needs.
    """
    if kind not in MEMORIES:
        raise unknown_name("memory", kind, MEMORIES)
    given = {name: value for name, value in settings.items() if value is not None}
    valid = list(getattr(MEMORIES[kind], "__dataclass_fields__", {}))
    for name in given:
        if name not in valid:
            listed = ", ".join(valid) or "none"
            raise RuleSafeError(f"the memory {kind} has no setting {name!r}; it has: {listed}")
    if kind == "fsq" and "model" not in given:
        raise RuleSafeError("the memory fsq needs a model: a folder of `rulesafe memory train`")
    return MEMORIES[kind](**given)


def memory_from(description: Mapping[str, Any]) -> MemoryConfig:
    """The memory that `describe` told of.

    Errors: RuleSafeError if the description makes no sense, and if its tokenizer is missing or
    another one than it was.
    """
    told = dict(description)
    trained = told.pop("hash", None)
    try:
        config = make_memory(told.pop("kind", None), **told)
    except TypeError as error:
        raise RuleSafeError(f"not a memory's description: {dict(description)}") from error
    found = config.describe().get("hash")
    if found != trained:
        raise RuleSafeError(
            f"it was trained with another memory model than {told.get('model')} is now: "
            f"hash {str(trained)[:12]}, found {str(found)[:12]}"
        )
    return config


def _check_length(length: int) -> None:
    if length < 1:
        raise RuleSafeError(f"a memory of length {length}; it must be 1 or more (or none)")
