"""Settings of networks and of training; no torch here, so that a command line can show them."""

from dataclasses import dataclass
from typing import Protocol

from policy_node.normaliser import ACTIONS, ActionKind
from policy_node.policy import Needs
from rulesafe_core.errors import RuleSafeError, unknown_name


class NetworkConfig(Protocol):
    """What every family's configuration, a frozen dataclass, tells of what it wants to see."""

    @property
    def frames(self) -> int:
        """T, frames of joints (and clouds), the present one the last."""
        ...

    @property
    def points(self) -> int:
        """N of a cloud; 0: no cloud."""
        ...

    @property
    def images(self) -> bool:
        """Whether pictures."""
        ...

    @property
    def instruction(self) -> bool:
        """Whether the rule in plain English."""
        ...

    @property
    def past(self) -> int:
        """P, actions before the chunk that training wants to see."""
        ...

    @property
    def cloud_frames(self) -> int:
        """The last so many of the T frames whose clouds are looked at; 0 without clouds."""
        ...

    @property
    def picture(self) -> int:
        """Side of the pictures, px, at which training may keep them: no more is looked at. What
        the network is shown at inference may be larger; it shrinks it by area."""
        ...


def needs_of(config: NetworkConfig, memory: bool) -> Needs:
    """What a policy of this configuration is to be shown."""
    return Needs(
        config.frames,
        config.points,
        config.images,
        config.instruction,
        memory,
        config.cloud_frames,
    )


@dataclass(frozen=True)
class EncoderConfig:
    """What sees scenes in clouds (policy_node.scene_encoder).

    Attributes:
        safes: that it tells apart.
        points: N of a cloud in training.
        pointnet: channels of the shared perceptron on each point.
        hidden: width of the perceptron after it.
    """

    safes: tuple[str, ...]
    points: int = 256
    pointnet: tuple[int, ...] = (32, 64, 256)
    hidden: int = 128

    def __post_init__(self) -> None:
        """Takes lists, as JSON gives them."""
        object.__setattr__(self, "safes", tuple(self.safes))
        object.__setattr__(self, "pointnet", tuple(self.pointnet))


@dataclass(frozen=True)
class Dp3Config:
    """A DP3 (policy_node.dp3).

    Attributes:
        frames: T, observations; the horizon is T - 1 past actions and the 50 of the chunk.
        points: N of a cloud.
        cloud_frames: the last so many observations whose clouds are looked at; published: all. The
            points take most of a training step, and a safe hardly moves in 0.2 s.
        encoder: what looks at clouds: name or file of a scene encoder, which stays as it is. In a
            checkpoint its shape, for the checkpoint holds its weights. None: a PointNet, trained
            with the rest, as published.
        colour: of that PointNet: whether r, g, b of the points are looked at, besides x, y, z.
        pointnet: of that PointNet: channels of the shared perceptron on each point.
        cloud_features: of that PointNet: numbers that a cloud becomes.
        state: widths of the perceptron on the joints.
        memory_embedding: numbers that a token becomes.
        memory_channels: of each convolution over the memory.
        memory_features: numbers that a memory becomes.
        channels: of the U-Net, level by level.
        blocks: residual blocks of each level, on the way down and again on the way up.
        kernel: of the U-Net's convolutions, in rows of actions.
        groups: of the U-Net's group normalisation.
        guess: width of the perceptron that guesses the rows; 0: none, as published.
        direct: whether joints go into what steers the U-Net as they are too, and the guess has a
            linear part: a target relative to where the arm is contains where it is.
        step_features: numbers that the diffusion step becomes.
        train_steps: of the diffusion.
        sample_steps: of them taken at inference.
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

    def __post_init__(self) -> None:
        """Takes a plain dict, as JSON gives it, for an encoder."""
        if isinstance(self.encoder, dict):
            object.__setattr__(self, "encoder", EncoderConfig(**self.encoder))

    @property
    def images(self) -> bool:
        return False

    @property
    def instruction(self) -> bool:
        return False

    @property
    def picture(self) -> int:
        return 0

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
"""tiny trains on a core; base has the published widths."""


@dataclass(frozen=True)
class TrainConfig:
    """Settings of a training run.

    Attributes:
        steps: batches in all.
        batch: windows in a batch, drawn from all frames of all episodes. None: 64 of dp3, 16 of
            rdt, cogact and pi0, which learn more from as many windows in small batches.
        learning_rate: AdamW's, at its height; it falls to 0 along half a cosine. Published sizes
            want a tenth of it.
        weight_decay: AdamW's, on matrices and kernels.
        warm_up: batches over which the rate rises.
        clip: greatest norm of the gradient.
        ema: the averaged weights keep this share at each step, in the end; less at the start.
        actions: absolute: targets by each joint's range, as published. relative: targets less the
            present posture, by the range of each row of the chunk. After 450 steps of DP3 tiny on
            rule_020, the arm's worst joint in the first row was off by 0.52 rad (median) with
            absolute and 0.06 rad with relative targets, at the tenth row by 0.54 and 0.33 rad.
        jitter: standard deviation of noise on the arm's observed joints, rad. The targets stay
            where they were, so that the network must find them from the cloud: without it, it
            learns to go on as the arm already goes, and never mends what it began a little off.
        hand_jitter: the same on the hand's joints.
        points_jitter: the same on the points, m.
        memory_warp: how much faster or slower the remembered past went than it did, see
            training_data.warped. A policy is rarely as quick as the expert; without it, a memory
            counts tokens where it should tell steps apart.
        safe_frame: whether the network acts about a safe that always stands at one place, see
            policy_node.safe_frame. None: where it sees through a scene encoder.
        checkpoint_every: batches between two checkpoints.
        threads: of torch; another number may add in another order.
        mixed_precision: no, fp16 or bf16, by accelerate.
        seed: of weights, batches and noise.
    """

    steps: int = 10000
    batch: int | None = None
    learning_rate: float = 1e-3
    weight_decay: float = 1e-4
    warm_up: int = 200
    clip: float = 1.0
    ema: float = 0.999
    actions: ActionKind = "relative"
    jitter: float = 0.1
    hand_jitter: float = 0.02
    points_jitter: float = 0.0
    memory_warp: float = 0.2
    safe_frame: bool | None = None
    checkpoint_every: int = 500
    threads: int = 1
    mixed_precision: str = "no"
    seed: int = 0

    def __post_init__(self) -> None:
        """Errors: RuleSafeError, naming the setting and its range."""
        for name in ("steps", "batch", "checkpoint_every", "threads"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise RuleSafeError(f"{name} is {value}; it must be 1 or more")
        noises = ("jitter", "hand_jitter", "points_jitter", "memory_warp")
        for name in ("weight_decay", "warm_up", *noises, "seed"):
            if getattr(self, name) < 0:
                raise RuleSafeError(f"{name} is {getattr(self, name)}; it must be 0 or more")
        if not (self.learning_rate > 0 and self.clip > 0 and 0 <= self.ema < 1):
            raise RuleSafeError("learning_rate and clip must be above 0, ema from 0 to below 1")
        if self.actions not in ACTIONS:
            raise unknown_name("kind of actions", self.actions, ACTIONS)
        if self.mixed_precision not in ("no", "fp16", "bf16"):
            raise RuleSafeError(
                f"mixed_precision is {self.mixed_precision!r}; valid: no, fp16, bf16"
            )
