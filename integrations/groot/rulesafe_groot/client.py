"""Client of Isaac GR00T's policy servers, by their ZeroMQ protocol.

    rulesafe eval --policy groot://127.0.0.1:5555 --rules rule_001 --episodes 10

Reference: NVIDIA, Isaac GR00T N1.6 and N1.7, `gr00t/policy/server_client.py` and "Understanding the
GR00T Policy API". A request is a map with `endpoint`, `data` and optionally `api_token`; the server
answers each one, with a map with `error` if it fails. This client calls `get_modality_config` and
`reset` on each connection, hence for each episode, and then `get_action` for each observation. N1.5
has other keys and is not supported.

The server's modality configuration selects the inputs that the client sends. The default keys are
those of meta/modality.json of `rulesafe demos export --format groot`; the address can change them:
`groot://HOST:PORT?front=ego_view`.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_node.policy import Needs, Observation
from rulesafe_core.cameras import DEFAULT_CAMERAS
from rulesafe_core.errors import RuleSafeError
from rulesafe_groot.dataset import PARTS, TASK
from rulesafe_groot.zeromq import RequestSocket
from rulesafe_locks.instructions import EXPORT_LENGTH
from rulesafe_openpi import wire
from rulesafe_openpi.remote import (
    MAX_FRAMES,
    Address,
    RemotePolicy,
    check_floating,
    first_steps,
    server_error,
)

FORMS = {"__ModalityConfig_class__": wire.npy, "__ModalityConfig__": wire.msgpack_numpy}
"""Form of arrays that a server reads, by the key that marks its modality configurations. Servers
without configurations receive `npy`, which N1.6 and new N1.7 servers read."""

MODALITIES = ("video", "state", "language", "action")
"""Names of the modalities in a configuration."""


@dataclass(frozen=True)
class ModalityKeys:
    """Keys of cameras and of the parts of state and action in a server's modality configuration.

    Attributes:
        front, head: the cameras, (1, 1, 224, 224, 3) uint8; an empty one is omitted.
        right_arm, right_hand: joint positions of the state, (1, T, 7) and (1, T, 6) float32, rad,
            and targets of the answer, (1, n, 7) and (1, n, 6), rad, at 10 Hz.
    """

    front: str = "front"
    head: str = "head"
    right_arm: str = "right_arm"
    right_hand: str = "right_hand"


@dataclass(frozen=True)
class Modality:
    """One modality of a server's configuration.

    Attributes:
        keys: keys of its entries in messages.
        steps: offsets of its time steps from the current frame (`delta_indices`).
    """

    keys: tuple[str, ...] = ()
    steps: tuple[int, ...] = (0,)


class GrootPolicy(RemotePolicy):
    """The policy of a server with GR00T's protocol. Settings: the fields of `ModalityKeys`."""

    TRANSPORT = RequestSocket
    PORT = 5555
    SETTINGS = MappingProxyType(asdict(ModalityKeys()))
    REQUIRED = ("right_arm", "right_hand")

    _form = staticmethod(wire.npy)

    @classmethod
    def parse(cls, text: str) -> Address:
        """See `RemotePolicy.parse`."""
        address = super().parse(text)
        for names in (DEFAULT_CAMERAS.names, tuple(PARTS)):
            first, second = (address.settings[name] for name in names)
            if first and first == second:
                raise RuleSafeError(f"{text!r} has the same key for {' and '.join(names)}")
        return address

    def _begin(self) -> bytes:
        description = self._ask("get_modality_config")
        read_content(description)
        read_content(self._ask("reset", {"options": None}))
        return description

    def _configure(self, description: bytes) -> None:
        """Select the inputs that the server's configuration requires; without one, select all."""
        keys = asdict(ModalityKeys(**self.address.settings))
        self._cameras = {keys[name]: name for name in DEFAULT_CAMERAS.names if keys[name]}
        self._parts = {keys[name]: part for name, part in PARTS.items()}
        self._language: tuple[str, ...] = (f"annotation.{TASK}",)
        self._steps: tuple[int, ...] = (0,)
        self._state = dict(self._parts)
        self.metadata = {"modalities": hashlib.sha256(description).hexdigest()}
        marker, config = read_modalities(read_content(description))
        if config:
            self._form = FORMS.get(marker, wire.npy)
            self._select(config)
        self.needs = Needs(
            frames=1 - min(self._steps, default=0),
            images=bool(self._cameras),
            instruction=bool(self._language),
            instruction_length=EXPORT_LENGTH,
        )

    def _select(self, config: dict[str, Modality]) -> None:
        """Select the inputs of a configuration; raise RuleSafeError if one is not available."""
        video, state, language, action = (config.get(name, Modality()) for name in MODALITIES)
        problems = [
            f"{name}: no {', '.join(missing)}; available: {', '.join(available) or 'none'}"
            for name, required, available in (
                ("video", video.keys, self._cameras),
                ("state", state.keys, self._parts),
                ("action", self._parts, action.keys),
            )
            if (missing := [key for key in required if key not in available])
        ]
        past = f"{1 - MAX_FRAMES} to 0"
        problems += [
            f"{name}: delta_indices {list(config[name].steps)}; supported: {supported}"
            for name, valid, supported in (
                ("video", video.steps == (0,), "[0]"),
                ("state", all(-MAX_FRAMES < step <= 0 for step in state.steps), past),
                ("language", language.steps == (0,), "[0]"),
                ("action", action.steps == tuple(range(len(action.steps))), "[0, 1, 2, ...]"),
            )
            if not valid
        ]
        if problems:
            raise RuleSafeError(
                "the server's modality configuration does not fit this robot. "
                f"{'. '.join(problems)}. The address can set keys, such as ?front=KEY"
            )
        self._cameras = {key: self._cameras[key] for key in video.keys}
        self._state = {key: self._parts[key] for key in state.keys}
        self._language, self._steps = language.keys, state.steps

    def _request(self, observation: Observation) -> NDArray[np.float32]:
        message = {"observation": self._message(observation), "options": None}
        return read_chunk(read_content(self._ask("get_action", message)), self._parts)

    def _message(self, observation: Observation) -> dict[str, Any]:
        """Return the observation with the dimensions batch (1) and time in front."""
        joints = np.asarray(observation.joints[[step - 1 for step in self._steps]], np.float32)
        return {
            "video": {key: observation.images[c][None, None] for key, c in self._cameras.items()},
            "state": {key: joints[None, :, part] for key, part in self._state.items()},
            "language": {key: [[observation.instruction]] for key in self._language},
        }

    def _ask(self, endpoint: str, data: dict[str, Any] | None = None) -> bytes:
        """Return the answer of an endpoint."""
        request: dict[str, Any] = {"endpoint": endpoint}
        if data is not None:
            request["data"] = data
        if token := wire.api_key():
            request["api_token"] = token
        return self._call(wire.encode(request, self._form))


def read_content(answer: bytes) -> Any:
    """Return the content of an answer; raise RuleSafeError if it is an error."""
    if answer == b"ERROR":
        raise server_error("the server does not say which")
    content = wire.decode(answer)
    if isinstance(content, dict) and "error" in content:
        raise server_error(content["error"])
    return content


def read_chunk(answer: Any, parts: Mapping[str, slice]) -> NDArray[np.float32]:
    """Return the first CHUNK actions (n, 13) of the content of an answer, rad.

    Args:
        answer: [actions, information], with the actions of each part, (1, n, size).
        parts: key of a part -> its place in ACTION_JOINTS.

    Raises:
        RuleSafeError: the answer has other content or shapes, or a value is not finite.
    """
    if not (isinstance(answer, list) and answer and isinstance(answer[0], dict)):
        raise RuleSafeError("an answer must be a list, first a map of actions")
    actions = [_actions(answer[0], key, part.stop - part.start) for key, part in parts.items()]
    lengths = [len(part) for part in actions]
    if len(set(lengths)) > 1:
        raise RuleSafeError(f"the actions of the answer have different lengths: {lengths}")
    return first_steps(np.concatenate(actions, axis=1), "actions")


def _actions(found: dict[Any, Any], key: str, size: int) -> NDArray[Any]:
    """Return the actions (n, size) with a key; raise RuleSafeError if they have another shape."""
    actions = found.get(key)
    if not isinstance(actions, np.ndarray):
        names = ", ".join(map(repr, found))
        raise RuleSafeError(f"the answer has no array {key!r}; it has {names}")
    check_floating(actions, repr(key))
    if actions.ndim != 3 or actions.shape[::2] != (1, size):
        raise RuleSafeError(
            f"{key!r} of the answer must have the shape (1, n, {size}), not {actions.shape}"
        )
    return actions[0]


def read_modalities(content: Any) -> tuple[str, dict[str, Modality]]:
    """Return the key that marks configurations in the answer of `get_modality_config`, and the
    modalities by name. Raises RuleSafeError."""
    try:
        marker, found = "", {}
        for name in MODALITIES:
            if name not in content:
                continue
            about = content[name]
            marker = next((key for key in FORMS if key in about), marker)
            values = about.get("as_json", about)
            if isinstance(values, str):
                raise TypeError("as_json is a text, as in GR00T N1.5, which is not supported")
            keys, steps = tuple(values["modality_keys"]), tuple(values["delta_indices"])
            if not (keys and all(type(key) is str for key in keys)):
                raise TypeError(f"modality_keys {keys!r}")
            if not (steps and all(type(step) is int for step in steps)):
                raise TypeError(f"delta_indices {steps!r}")
            found[name] = Modality(keys, steps)
        return marker, found
    except (AttributeError, TypeError, KeyError) as error:
        raise RuleSafeError(f"the server's modality configuration is invalid: {error!r}") from error
