"""Settings of networks; without torch, so that the command line loads fast."""

from collections.abc import Mapping
from dataclasses import dataclass, is_dataclass, replace
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from policy_node.policy import Needs
from rulesafe_core.cameras import DEFAULT_CAMERAS, CameraSet
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.settings import convert
from rulesafe_core.versions import EARLIER

Config = TypeVar("Config")


MAX_INTEGER = 1_000_000
"""Maximum integer in a configuration that is read from JSON."""

MAX_ITEMS = 1000
"""Maximum length of a list in a configuration that is read from JSON."""


def from_json(kind: type[Config], values: Mapping[str, Any]) -> Config:
    """Return a configuration with these values, read from JSON; lists become tuples, and objects
    the configurations of their fields.

    Raises:
        RuleSafeError: a value has another type than its field or is too large.
        TypeError: a field is unknown or missing.
    """
    if not isinstance(values, Mapping):
        raise RuleSafeError(f"the configuration is {values!r:.60}; valid: an object")
    hints = get_type_hints(kind)
    return kind(
        **{name: _value(hints.get(name, Any), value, name) for name, value in values.items()}
    )


def _value(hint: Any, value: Any, name: str) -> Any:
    kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    if value is None and NoneType in kinds:
        return None
    nested = [kind for kind in kinds if is_dataclass(kind)]
    if nested and (str not in kinds or not isinstance(value, str)):
        return from_json(nested[0], value)  # type: ignore[arg-type]
    if isinstance(value, list) and len(value) > MAX_ITEMS:
        raise RuleSafeError(f"{name} has {len(value)} items; valid: at most {MAX_ITEMS}")
    if isinstance(value, dict):  # sizes of a language model
        return {key: _value(type(of), of, key) for key, of in value.items()}
    kind = next((kind for kind in kinds if kind is not NoneType and not is_dataclass(kind)), Any)
    if int in (kind, *get_args(kind)):
        return convert(kind, value, name, {"low": 0, "high": MAX_INTEGER})
    value = convert(kind, value, name, {})
    return tuple(value) if isinstance(value, list) else value


class NetworkConfig:
    """The inputs of a network. The configuration of a family is a frozen dataclass that derives
    from this class and overrides some of these values with fields or properties."""

    @property
    def frames(self) -> int:
        """T, the number of frames of joint positions, ending with the current frame."""
        return 1

    @property
    def points(self) -> int:
        """N, the number of points of a point cloud; 0: no point cloud."""
        return 0

    @property
    def images(self) -> bool:
        """Whether the network receives the images of the cameras."""
        return False

    @property
    def instruction(self) -> bool:
        """Whether the network receives the instruction, the rule in plain English."""
        return False

    @property
    def past(self) -> int:
        """P, the number of past actions that the network predicts in addition to the chunk."""
        return 0

    @property
    def cloud_frames(self) -> int:
        """C, the number of point clouds: those of the last C of the T frames."""
        return 0

    @property
    def earlier_scenes(self) -> tuple[int, ...]:
        """Numbers of frames before the current one, in descending order, at which the network
        also receives scene features. At inference the network stores them, and expects the next
        inference after `SkillsConfig.execute` frames."""
        return ()

    @property
    def mean_identity(self) -> bool:
        """Whether the identity of the safe in the scene features is the mean of the estimates since
        the beginning of the episode: a single view may be ambiguous."""
        return False

    @property
    def subtasks(self) -> bool:
        """Whether training requires the demonstrator's subtask at each frame; each chunk then ends
        with its subtask, and repeats the last action."""
        return False

    @property
    def replays(self) -> bool:
        """Whether the network stores demonstrations instead of being trained: training has no steps
        and uses absolute actions."""
        return False

    @property
    def image_size(self) -> int:
        """Side length (px) to which training data may resize images without a loss. At inference
        images may be larger; the network resizes them itself by averaging areas."""
        return 0

    @property
    def cameras(self) -> tuple[str, ...]:
        """Names of the cameras whose images the network encodes without a scene encoder."""
        return DEFAULT_CAMERAS.names

    def with_cameras(self, names: tuple[str, ...]) -> "NetworkConfig":
        """Return the configuration for the images of these cameras."""
        return self


def needs_of(config: NetworkConfig, memory: bool, cameras: CameraSet = DEFAULT_CAMERAS) -> Needs:
    """Return the observations that a policy of this configuration requires."""
    return Needs(
        config.frames,
        config.points,
        config.images,
        config.instruction,
        memory,
        config.cloud_frames,
        cameras=cameras,
    )


@dataclass(frozen=True)
class EncoderConfig:
    """A scene encoder (policy_node.scene_encoder).

    Attributes:
        safes: names of the safes that it classifies.
        points: number of points of a point cloud in training.
        pointnet: channels of the MLP that is applied to each point.
        hidden: width of the MLP after the PointNet or the convolutions.
        image_size: side length (px) of the images that it receives instead of point clouds; larger
            ones are resized. 0: point clouds.
        convolutions: channels of the convolutions that are applied to each image; each halves its
            side length.
        cameras: names of the cameras of the images.
        renderer: renderer of the scenes, with its version.
    """

    safes: tuple[str, ...]
    points: int = 256
    pointnet: tuple[int, ...] = (32, 64, 256)
    hidden: int = 128
    image_size: int = 0
    convolutions: tuple[int, ...] = (16, 32, 64, 64)
    cameras: tuple[str, ...] = DEFAULT_CAMERAS.names
    renderer: str = EARLIER["renderer"]


@dataclass(frozen=True)
class Dp3Config(NetworkConfig):
    """A DP3 (policy_node.dp3).

    Attributes:
        frames: T, number of observations. The horizon is T - 1 past actions and the 50 actions of
            the chunk.
        points: number of points of a point cloud.
        cloud_frames: number of the last observations whose point clouds are used. The published
            network uses all; one is faster, and a safe hardly moves in 0.2 s.
        encoder: name or file of a pretrained, frozen scene encoder; None: a PointNet that is
            trained with the policy, as published. A checkpoint stores the encoder's configuration
            here, and its weights among its own.
        colour: whether the PointNet uses the points' colours besides their positions.
        pointnet: channels of the PointNet's MLP, which is applied to each point.
        cloud_features: number of features that the PointNet computes from a point cloud.
        state: widths of the MLP that encodes the joint positions.
        memory_embedding: width of a token's embedding.
        memory_channels: channels of each convolution over the memory.
        memory_features: number of features of the encoded memory.
        channels: channels of each level of the U-Net.
        blocks: residual blocks in each level of the U-Net's encoder, and of its decoder.
        kernel: kernel size of the U-Net's convolutions, in steps of the chunk.
        groups: number of groups of the U-Net's group normalisation.
        guess: width of the MLP that makes an initial prediction of the actions; the U-Net then
            predicts the residual. 0: no initial prediction, as published.
        direct: whether the condition of the U-Net also contains the joint positions themselves and
            the initial prediction has a linear layer: targets relative to the posture depend
            linearly on it.
        step_features: number of features of the diffusion step.
        train_steps: number of diffusion steps in training.
        sample_steps: number of diffusion steps at inference.
        loss: one of policy_node.schedules.LOSSES.
    """

    frames: int = 3
    points: int = 256
    cloud_frames: int = 1
    encoder: str | EncoderConfig | None = "ten_safes"
    colour: bool = True
    pointnet: tuple[int, ...] = (32, 64, 256)
    cloud_features: int = 128
    state: tuple[int, ...] = (64, 64)
    memory_embedding: int = 16
    memory_channels: tuple[int, ...] = (32, 32, 64)
    memory_features: int = 64
    channels: tuple[int, ...] = (32, 64, 128)
    blocks: int = 1
    kernel: int = 5
    groups: int = 8
    guess: int = 512
    direct: bool = True
    step_features: int = 64
    train_steps: int = 100
    sample_steps: int = 10
    loss: str = "absolute"

    @property
    def past(self) -> int:
        return self.frames - 1


DP3_SIZES = {
    "tiny": Dp3Config(),
    "base": Dp3Config(
        points=1024,
        encoder=None,
        guess=0,
        direct=False,
        loss="squared",
        cloud_frames=3,
        cloud_features=64,
        pointnet=(64, 128, 256),
        state=(64, 64),
        memory_channels=(64, 64, 128),
        channels=(512, 1024, 2048),
        blocks=2,
        step_features=128,
    ),
}
DP3_SIZES["published"] = replace(
    DP3_SIZES["base"],
    pointnet=(32, 64, 256),
    memory_channels=(32, 32, 64),
    channels=(32, 64, 128),
    blocks=1,
    step_features=64,
)
"""Configurations of DP3 by size: tiny can be trained on one CPU core; base has the published widths
of the layers; published is the published network with the widths of tiny, for ablations."""


@dataclass(frozen=True)
class BcConfig(NetworkConfig):
    """Behaviour cloning (policy_node.bc).

    Attributes:
        frames, points, encoder: as in Dp3Config; the encoder is required. With three frames the
            errors on demonstrations are lower, but fewer safes are opened: the network continues
            the motion that it observes.
        images: whether the encoder receives images; then `points` is 0.
        language: width of the instruction's tokens and of their encoding.
        heads: attention heads of the instruction's encoder.
        memory_embedding, memory_channels, memory_features: as in Dp3Config.
        waves: number of frequencies of the sines that encode the current joint positions.
        condition: width of the encoding of instruction, scene and memory.
        width: width of the residual MLP that this encoding modulates.
        blocks: number of residual blocks.
        modes: number of modes between which a classifier chooses; 0: none.
        decay: number of steps of the chunk over which the weight of its errors in the loss falls
            to 1/e: few are executed before the next inference.
    """

    frames: int = 1
    points: int = 256
    images: bool = False
    encoder: str | EncoderConfig = "ten_safes"
    language: int = 64
    heads: int = 4
    memory_embedding: int = 16
    memory_channels: tuple[int, ...] = (32, 32, 64)
    memory_features: int = 128
    waves: int = 4
    condition: int = 256
    width: int = 512
    blocks: int = 3
    modes: int = 96
    decay: float = 12.0

    @property
    def instruction(self) -> bool:
        return True

    @property
    def cloud_frames(self) -> int:
        return 1

    @property
    def mean_identity(self) -> bool:
        return True


BC_SIZES = {
    "tiny": BcConfig(),
    "images": BcConfig(points=0, images=True, encoder="ten_safes_images"),
}
"""Configurations of behaviour cloning by size: `images` uses camera images instead of point
clouds."""


@dataclass(frozen=True)
class SkillsConfig(NetworkConfig):
    """The skills of a policy of two levels (policy_node.skills).

    Attributes:
        frames, points, encoder: as in Dp3Config; the encoder is required.
        images: whether the encoder receives images; then `points` is 0.
        demonstrations: number of demonstrations for each safe, subtask and preceding subtask; of
            the door, also for each set of open parts.
        execute: usual number of actions of a chunk that are executed before the next inference.
        stored: number of frames of all demonstrations, which training determines.
    """

    frames: int = 3
    points: int = 256
    images: bool = False
    encoder: str | EncoderConfig = "ten_safes"
    demonstrations: int = 6
    execute: int = 12
    stored: int = 0

    @property
    def cloud_frames(self) -> int:
        return 1

    @property
    def subtasks(self) -> bool:
        return True

    @property
    def replays(self) -> bool:
        return True


SKILLS_SIZES = {
    "tiny": SkillsConfig(),
    "images": SkillsConfig(points=0, images=True, encoder="ten_safes_images"),
}
"""Configurations of skills by size: `images` uses camera images instead of point clouds."""


@dataclass(frozen=True)
class TwoLevelConfig(NetworkConfig):
    """A policy of two levels (policy_node.two_level).

    Attributes:
        skills: folder of the trained, frozen skills; training requires it. A checkpoint stores
            their configuration here, and their weights among its own.
        frames, points, images, cloud_frames: as in SkillsConfig; those of the skills.
        language: width of the instruction's tokens and of their encoding.
        heads: attention heads of the instruction's encoder.
        memory_embedding, memory_channels, memory_features: as in Dp3Config.
        memory_network: network over the memory: convolutions as in DP3, which use
            `memory_channels`; a GRU; or a transformer with causal attention.
        earlier_scenes: as in NetworkConfig; multiples of `SkillsConfig.execute`.
        hidden: width of the two hidden layers that choose the subtask.
    """

    skills: str | SkillsConfig = SKILLS_SIZES["tiny"]
    frames: int = 3
    points: int = 256
    images: bool = False
    cloud_frames: int = 1
    language: int = 64
    heads: int = 4
    memory_embedding: int = 16
    memory_channels: tuple[int, ...] = (32, 32, 64)
    memory_features: int = 128
    memory_network: Literal["convolutions", "gru", "transformer"] = "convolutions"
    earlier_scenes: tuple[int, ...] = ()
    hidden: int = 512

    @property
    def instruction(self) -> bool:
        return True

    @property
    def subtasks(self) -> bool:
        return True


TWO_LEVEL_SIZES = {
    "tiny": TwoLevelConfig(),
    "images": TwoLevelConfig(SKILLS_SIZES["images"], points=0, images=True),
    "gru": TwoLevelConfig(memory_network="gru"),
    "transformer": TwoLevelConfig(memory_network="transformer"),
    "scenes": TwoLevelConfig(earlier_scenes=tuple(range(480, 0, -24))),
    "sparse_scenes": TwoLevelConfig(earlier_scenes=tuple(range(960, 0, -48))),
}
"""Configurations of two-level policies by size: `images` requires skills of the size images; `gru`
and `transformer` differ from `tiny` in the network over the memory; `scenes` has the scene features
of the last 48 s, 2.4 s apart, `sparse_scenes` those of the last 96 s, 4.8 s apart."""
