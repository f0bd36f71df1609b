"""Settings of networks and of training; no torch here, so that a command line can show them."""

from dataclasses import dataclass
from typing import Literal

from policy_node.normaliser import ActionKind
from policy_node.policy import Needs
from rulesafe_core.settings import Settings, setting


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


def needs_of(config: NetworkConfig, memory: bool) -> Needs:
    """Return what a policy of this configuration observes; any class with these fields will do."""
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
class TrainConfig(Settings):
    """Settings of a training run."""

    steps: int = setting(10000, "Batches in all.", 1)
    batch: int | None = setting(
        None,
        "Windows in a batch, drawn from all frames of all episodes. None: 64 for dp3, 16 for rdt, "
        "cogact and pi0, which learn more from the same number of windows in small batches.",
        1,
    )
    learning_rate: float = setting(
        1e-3,
        "AdamW's maximum; it falls to 0 along half a cosine. Published sizes need a tenth of it.",
        above=0,
    )
    weight_decay: float = setting(1e-4, "AdamW's, on matrices and kernels.", 0)
    warm_up: int = setting(200, "Batches over which the rate rises.", 0)
    clip: float = setting(1.0, "Maximum norm of the gradient.", above=0)
    ema: float = setting(
        0.999,
        "Share of themselves that the averaged weights keep at each step, in the end; less at the "
        "start.",
        0,
        below=1,
    )
    actions: ActionKind = setting(
        "relative",
        "absolute: targets by each joint's range, as published. relative: targets less the present "
        "posture, by the range of each step of the chunk. After 450 steps of DP3 tiny on rule_020, "
        "the arm's worst joint in the first step was off by 0.52 rad (median) with absolute and "
        "0.06 rad with relative targets, at the tenth step by 0.54 and 0.33 rad.",
    )
    jitter: float = setting(
        0.1,
        "Standard deviation of noise on the arm's observed joints. The targets are unchanged, so "
        "that the network must find them from the point cloud: without noise it learns to continue "
        "the arm's motion, and never corrects a small error.",
        0,
        unit="rad",
    )
    hand_jitter: float = setting(0.02, "The same on the hand's joints.", 0, unit="rad")
    points_jitter: float = setting(0.0, "The same on the points.", 0, unit="m")
    memory_warp: float = setting(
        0.2,
        "Standard deviation of the factor on the pace of the remembered past, see "
        "training_data.warped. A policy is rarely as fast as the expert; without it, the network "
        "counts tokens instead of distinguishing steps.",
        0,
    )
    safe_frame: bool | None = setting(
        None,
        "Whether joints are transformed as if the safe were at one pose, see "
        "policy_node.safe_frame. None: if the network has a scene encoder.",
    )
    checkpoint_every: int = setting(500, "Batches between two checkpoints.", 1)
    threads: int = setting(1, "Threads of torch; results depend on their number in rounding.", 1)
    mixed_precision: Literal["no", "fp16", "bf16"] = setting("no", "By accelerate.")
    seed: int = setting(0, "Seed of weights, batches and noise.", 0)
