"""Settings of networks and of training; no torch here, so that a command line can show them."""

from dataclasses import dataclass
from typing import get_args

from policy_node.normaliser import ActionKind
from policy_node.policy import Needs
from rulesafe_core.errors import RuleSafeError, unknown_name


class NetworkConfig:
    """What a network observes. The configuration of a family is a frozen dataclass that derives
    from this class and overrides what differs, with fields or properties."""

    @property
    def frames(self) -> int:
        """T, frames of joints (and point clouds), the present one the last."""
        return 1

    @property
    def points(self) -> int:
        """N of a point cloud; 0: no point cloud."""
        return 0

    @property
    def images(self) -> bool:
        """Whether the images of both cameras."""
        return False

    @property
    def instruction(self) -> bool:
        """Whether the rule in plain English."""
        return False

    @property
    def past(self) -> int:
        """P, actions before the chunk that the training uses."""
        return 0

    @property
    def cloud_frames(self) -> int:
        """The last so many of the T frames whose point clouds are used; 0 without."""
        return 0

    @property
    def picture(self) -> int:
        """Side of the images, px, at which training may keep them: the network uses no more. At
        inference images may be larger; the network shrinks them by area."""
        return 0

    def needs(self, memory: bool) -> Needs:
        """Return what a policy of this configuration observes."""
        return Needs(
            self.frames, self.points, self.images, self.instruction, memory, self.cloud_frames
        )


@dataclass(frozen=True)
class EncoderConfig:
    """A scene encoder (policy_node.scene_encoder).

    Attributes:
        safes: that it classifies.
        points: N of a point cloud in training.
        pointnet: channels of the shared MLP on each point.
        hidden: width of the MLP after it.
    """

    safes: tuple[str, ...]
    points: int = 256
    pointnet: tuple[int, ...] = (32, 64, 256)
    hidden: int = 128

    def __post_init__(self) -> None:
        """Accepts lists, as JSON has them."""
        object.__setattr__(self, "safes", tuple(self.safes))
        object.__setattr__(self, "pointnet", tuple(self.pointnet))


@dataclass(frozen=True)
class Dp3Config(NetworkConfig):
    """A DP3 (policy_node.dp3).

    Attributes:
        frames: T, observations; the horizon is T - 1 past actions and the 50 of the chunk.
        points: N of a point cloud.
        cloud_frames: the last so many observations whose point clouds are used; published: all.
            The points take most of a training step, and a safe hardly moves in 0.2 s.
        encoder: name or file of a scene encoder, which is frozen. In a checkpoint its shape, for
            the checkpoint holds its weights. None: a PointNet, trained with the rest, as published.
        colour: of that PointNet: whether r, g, b of the points are used, besides x, y, z.
        pointnet: of that PointNet: channels of the shared MLP on each point.
        cloud_features: of that PointNet: features of a point cloud.
        state: widths of the MLP on the joints.
        memory_embedding: width of a token's embedding.
        memory_channels: of each convolution over the memory.
        memory_features: features of a memory.
        channels: of the U-Net, level by level.
        blocks: residual blocks of each level, on the way down and again on the way up.
        kernel: of the U-Net's convolutions, in steps of the chunk.
        groups: of the U-Net's group normalisation.
        guess: width of the MLP that makes an initial prediction of the actions, to which the U-Net
            adds the residual; 0: none, as published.
        direct: whether the condition of the U-Net contains the joints themselves too, and the
            initial prediction has a linear part: a target relative to the arm's posture contains
            that posture.
        step_features: features of the diffusion step.
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
        """Accepts a plain dict, as JSON has it, for an encoder."""
        if isinstance(self.encoder, dict):
            object.__setattr__(self, "encoder", EncoderConfig(**self.encoder))

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
        batch: windows in a batch, drawn from all frames of all episodes. None: 64 for dp3, 16 for
            rdt, cogact and pi0, which learn more from the same number of windows in small batches.
        learning_rate: AdamW's, at its height; it falls to 0 along half a cosine. Published sizes
            want a tenth of it.
        weight_decay: AdamW's, on matrices and kernels.
        warm_up: batches over which the rate rises.
        clip: greatest norm of the gradient.
        ema: the averaged weights keep this share at each step, in the end; less at the start.
        actions: absolute: targets by each joint's range, as published. relative: targets less the
            present posture, by the range of each step of the chunk. After 450 steps of DP3 tiny on
            rule_020, the arm's worst joint in the first step was off by 0.52 rad (median) with
            absolute and 0.06 rad with relative targets, at the tenth step by 0.54 and 0.33 rad.
        jitter: standard deviation of noise on the arm's observed joints, rad. The targets are
            unchanged, so that the network must find them from the point cloud: without noise it
            learns to continue the arm's motion, and never corrects a small error.
        hand_jitter: the same on the hand's joints.
        points_jitter: the same on the points, m.
        memory_warp: standard deviation of the factor on the pace of the remembered past, see
            training_data.warped. A policy is rarely as fast as the expert; without it, the network
            counts tokens instead of distinguishing steps.
        safe_frame: whether joints are transformed as if the safe were at one pose, see
            policy_node.safe_frame. None: if the network has a scene encoder.
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
        if self.actions not in get_args(ActionKind):
            raise unknown_name("kind of actions", self.actions, get_args(ActionKind))
        if self.mixed_precision not in ("no", "fp16", "bf16"):
            raise RuleSafeError(
                f"mixed_precision is {self.mixed_precision!r}; valid: no, fp16, bf16"
            )
