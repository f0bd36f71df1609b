"""A memory model on disk: `model.safetensors` (arrays) and `model.json` (their description).

Reading needs only numpy and safetensors. A model that is damaged, or made for other joints or
another window, is refused with the reason. Arrays, all float32 except the clusters:

    normaliser.mean, normaliser.std             (13,) rad; std inf: the joint is ignored
    encoder.layers.I.weight, .bias              (channels out, channels in, kernel), (channels out,)
    encoder.out.weight, .bias                   (dimensions, channels x frames), (dimensions,)
    encoder.straight.weight                     (dimensions, joints x window)
    decoder....                                 as trained; not used by tokenizers
    codebook                                    (codes, dimensions)
    usage                                       (codes,) share of the training windows
    clusters.J, centroids.J                     (codes,) int64 in 0 .. J - 1; (J, dimensions)
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file, save

from rulesafe_core.errors import RuleSafeError, unknown_name
from rulesafe_core.files import check_regular, write_atomically
from rulesafe_core.joints import ACTION_JOINTS
from rulesafe_core.text_files import read_json
from rulesafe_data.files import write_json
from vq_memory_node.windows import RATE, WINDOW

FORMAT = "rulesafe memory model 1"
SHIPPED = Path(__file__).parent / "data" / "models"
"""Folder of the models that come with the package, one folder each."""

JSON_FILE, ARRAY_FILE = "model.json", "model.safetensors"


@dataclass(frozen=True)
class Layer:
    """A convolution over time without padding: output channels; kernel and stride in frames."""

    channels: int
    kernel: int
    stride: int


@dataclass(frozen=True)
class Architecture:
    """Architecture of the encoder and its quantiser.

    Attributes:
        kind: a name in tokenizers.TOKENIZERS.
        layers: convolutions, each followed by ReLU; a linear layer maps the flattened result to a
            latent, to which a linear map of the window itself is added.
        dimensions: size of a latent.
        codes: number of codes.
        levels: empty, or sizes that a kind of another package requires.
    """

    kind: str = "vq"
    layers: tuple[Layer, ...] = (Layer(64, 5, 2), Layer(128, 5, 2), Layer(128, 3, 2))
    dimensions: int = 32
    codes: int = 256
    levels: tuple[int, ...] = ()

    def frames(self, window: int) -> list[int]:
        """Return the number of frames before the first layer and after each layer."""
        found = [window]
        for layer in self.layers:
            found.append((found[-1] - layer.kernel) // layer.stride + 1)
        return found


@dataclass(frozen=True)
class MemoryModel:
    """A trained memory model, see `save_model` and `load_model`.

    Attributes:
        arrays: arrays by the names that the docstring of this module lists.
        joints: names of the joints, in the order of a window's columns.
        window: number of frames in a window, at `rate` Hz.
        training: settings, data and results of the training; not part of `hash`.
    """

    architecture: Architecture
    arrays: Mapping[str, NDArray[Any]]
    joints: tuple[str, ...] = ACTION_JOINTS
    window: int = WINDOW
    rate: int = RATE
    training: dict[str, Any] = field(default_factory=dict)

    @property
    def clusterings(self) -> tuple[int, ...]:
        """The numbers of clusters that it offers, ascending; the largest is one for each code."""
        names = (name.split(".") for name in self.arrays)
        return tuple(sorted(int(parts[1]) for parts in names if parts[0] == "clusters"))

    @property
    def hash(self) -> str:
        """SHA-256, in hexadecimal digits, of everything that determines the token of a window."""
        digest = hashlib.sha256(json.dumps(_about(self), sort_keys=True).encode())
        for name in sorted(self.arrays):
            array = self.arrays[name]
            digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    def clusters(self, clusters: int) -> NDArray[np.int64]:
        """Return the token of each code (codes,); RuleSafeError if there is no such clustering."""
        if clusters not in self.clusterings:
            raise unknown_name("number of clusters", clusters, map(str, self.clusterings))
        return self.arrays[f"clusters.{clusters}"]


def save_model(model: MemoryModel, folder: Path | str) -> None:
    """Write a model into a folder, which is created. The same model gives the same bytes.

    Raises:
        RuleSafeError: the arrays do not fit the architecture.
    """
    check(model, str(folder))
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    arrays = {name: np.ascontiguousarray(array) for name, array in model.arrays.items()}
    write_atomically(folder / ARRAY_FILE, save(arrays, {"format": FORMAT}))
    about = _about(model) | {"hash": model.hash, "clusterings": model.clusterings}
    write_json(folder / JSON_FILE, about | {"training": model.training})


def load_model(
    name: Path | str, joints: tuple[str, ...] = ACTION_JOINTS, window: int = WINDOW
) -> MemoryModel:
    """Read a model that comes with the package, by its name, or the model in a folder.

    Raises:
        RuleSafeError: the model is missing, damaged, or for other joints or windows.
    """
    folder = find(name)
    about = read_json(folder / JSON_FILE, "the description of a memory model")
    model = _model(about, _arrays(folder), folder)
    if tuple(model.joints) != tuple(joints):
        raise RuleSafeError(
            f"{folder}: the model is for other joints: {', '.join(model.joints)}; "
            f"expected {', '.join(joints)}"
        )
    if (model.window, model.rate) != (window, RATE):
        raise RuleSafeError(
            f"{folder}: the model is for windows of {model.window} frames at {model.rate} Hz; "
            f"expected {window} frames at {RATE} Hz"
        )
    check(model, str(folder))
    if about.get("hash") != model.hash:
        raise RuleSafeError(
            f"{folder}: {JSON_FILE} and {ARRAY_FILE} do not match: hash of the model {model.hash}, "
            f"expected {about.get('hash')}; restore both files from one training"
        )
    return model


def find(name: Path | str) -> Path:
    """Return the folder of a model; see `find_folder`."""
    return find_folder(SHIPPED, name, JSON_FILE, "model")


def find_folder(shipped: Path, name: Path | str, file: str, kind: str) -> Path:
    """Return the folder that contains `file`: the folder `name` in `shipped`, or the path `name`.

    Raises:
        RuleSafeError: there is no such folder; the message lists the names.
    """
    for folder in (shipped / name, Path(name)):
        if (folder / file).is_file():
            return folder
    names = ", ".join(names_in(shipped, file)) or "(none shipped)"
    raise RuleSafeError(f"no {kind} {str(name)!r}; valid: {names}, or a folder with a {file}")


def names_in(shipped: Path, file: str) -> list[str]:
    """Return the names of the folders that contain this file."""
    return sorted(path.parent.name for path in shipped.glob(f"*/{file}"))


def _about(model: MemoryModel) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "joints": list(model.joints),
        "window": model.window,
        "rate": model.rate,
        "architecture": asdict(model.architecture),
    }


def _arrays(folder: Path) -> dict[str, NDArray[Any]]:
    try:
        check_regular(folder / ARRAY_FILE)
        return load_file(folder / ARRAY_FILE)
    except FileNotFoundError as error:
        raise RuleSafeError(f"{folder}: {ARRAY_FILE} is missing") from error
    except (SafetensorError, KeyError, ValueError) as error:
        raise RuleSafeError(f"{folder / ARRAY_FILE} is damaged: {error}") from error


def _model(about: Any, arrays: dict[str, NDArray[Any]], folder: Path) -> MemoryModel:
    found = about.get("format") if isinstance(about, dict) else None
    if found != FORMAT:
        raise RuleSafeError(f"{folder / JSON_FILE}: format {found!r}; valid: {FORMAT!r}")
    try:
        parts = dict(about["architecture"])
        layers = tuple(Layer(**layer) for layer in parts.pop("layers"))
        levels = tuple(parts.pop("levels"))
        return MemoryModel(
            architecture=Architecture(layers=layers, levels=levels, **parts),
            arrays=arrays,
            joints=tuple(about["joints"]),
            window=int(about["window"]),
            rate=int(about["rate"]),
            training=dict(about.get("training", {})),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise RuleSafeError(f"{folder / JSON_FILE}: invalid or incomplete: {error!r}") from error


def check(model: MemoryModel, where: str) -> None:
    """Raise RuleSafeError if a model's arrays do not fit its architecture."""
    _check_sizes(model, where)
    for name, shape in _shapes(model).items():
        array = model.arrays.get(name)
        if array is None:
            raise RuleSafeError(f"{where}: the array {name} is missing")
        kind = np.int64 if name.startswith("clusters.") else np.float32
        if array.shape != shape or array.dtype != kind:
            raise RuleSafeError(
                f"{where}: {name} is {array.dtype} {array.shape}, expected {np.dtype(kind)} {shape}"
            )
        # An infinite standard deviation is valid: it maps its joint to 0.
        bad = np.isnan(array) if name == "normaliser.std" else ~np.isfinite(array)
        if bad.any():
            raise RuleSafeError(f"{where}: {name} contains NaN or infinity")
    if not (model.arrays["normaliser.std"] > 0).all():
        raise RuleSafeError(f"{where}: normaliser.std must be above 0")
    for clusters in model.clusterings:
        tokens = model.arrays[f"clusters.{clusters}"]
        if not ((tokens >= 0) & (tokens < clusters)).all():
            raise RuleSafeError(f"{where}: clusters.{clusters} must lie in 0 .. {clusters - 1}")


def _check_sizes(model: MemoryModel, where: str) -> None:
    about = model.architecture
    sizes = {"dimensions": about.dimensions, "codes": about.codes, "window": model.window}
    sizes |= {
        f"{k} of layer {i}": v for i, e in enumerate(about.layers) for k, v in vars(e).items()
    }
    for name, value in sizes.items():
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise RuleSafeError(f"{where}: {name} is {value!r}; valid: an integer of 1 or more")
    if not about.layers:
        raise RuleSafeError(f"{where}: the encoder has no layers")
    for name in model.arrays:
        if name.startswith("clusters.") and not name.removeprefix("clusters.").isdecimal():
            raise RuleSafeError(f"{where}: {name} must end in a number of clusters")


def _shapes(model: MemoryModel) -> dict[str, tuple[int, ...]]:
    architecture, joints = model.architecture, len(model.joints)
    shapes: dict[str, tuple[int, ...]] = {}
    shapes |= {f"normaliser.{name}": (joints,) for name in ("mean", "std")}
    channels = joints
    for place, layer in enumerate(architecture.layers):
        shapes[f"encoder.layers.{place}.weight"] = (layer.channels, channels, layer.kernel)
        shapes[f"encoder.layers.{place}.bias"] = (layer.channels,)
        channels = layer.channels
    flat = channels * architecture.frames(model.window)[-1]
    shapes["encoder.out.weight"] = (architecture.dimensions, flat)
    shapes["encoder.out.bias"] = (architecture.dimensions,)
    shapes["encoder.straight.weight"] = (architecture.dimensions, joints * model.window)
    shapes["codebook"] = (architecture.codes, architecture.dimensions)
    shapes["usage"] = (architecture.codes,)
    shapes |= {f"clusters.{clusters}": (architecture.codes,) for clusters in model.clusterings}
    return shapes
