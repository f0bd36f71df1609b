"""Settings of training; without torch, so that the command line loads fast."""

from dataclasses import dataclass

from policy_node.normaliser import ActionKind
from rulesafe_core.settings import Settings, setting


@dataclass(frozen=True)
class TrainConfig(Settings):
    """Settings of a training run."""

    steps: int = setting(10000, "Number of training steps (batches).", 1)
    batch: int | None = setting(
        None,
        "Batch size: number of windows, sampled from all frames of all episodes. None: 64 for dp3 "
        "and two_level, 128 for bc, 16 for rdt, cogact and pi0, which learn more from the same "
        "number of windows in small batches.",
        1,
    )
    grasps: float | None = setting(
        None,
        "Share of the windows that are drawn from those in which the hand opens or closes within "
        "1.5 s, where a centimetre decides; the others are drawn from all. None: 0.3 for bc, else "
        "0.",
        0,
        1,
    )
    learning_rate: float = setting(
        1e-3,
        "Maximum learning rate of AdamW; it follows a cosine to 0. Size base needs about 1e-4.",
        above=0,
    )
    weight_decay: float = setting(1e-4, "Weight decay of AdamW; not on biases and norms.", 0)
    warm_up: int = setting(200, "Steps of linear learning rate warm-up.", 0)
    clip: float = setting(1.0, "Maximum norm of the gradient.", above=0)
    ema: float = setting(
        0.999,
        "Maximum decay of the exponential moving average of the weights; it is smaller in the "
        "first steps.",
        0,
        below=1,
    )
    actions: ActionKind = setting(
        "relative",
        "absolute: joint positions, normalised by each joint's range, as published. relative: "
        "differences to the current posture, normalised by the range of each step of the chunk. "
        "After 450 steps of DP3 tiny on rule_020, the median error of the arm's worst joint was "
        "0.52 rad with absolute and 0.06 rad with relative actions in the first step of the chunk, "
        "and 0.54 and 0.33 rad in the tenth.",
    )
    jitter: float = setting(
        0.1,
        "Standard deviation of noise on the observed arm joints. The targets are unchanged, so "
        "that the network must infer them from the point cloud: without noise it learns to "
        "continue the arm's motion, and never corrects a small error.",
        0,
        unit="rad",
    )
    far: float | None = setting(
        None,
        "Share of windows whose noise on the arm is up to six times as large, and whose targets "
        "return by 0.1 rad per step: without them, a policy that has left the postures of the "
        "demonstrations hardly ever returns. None: 0.1 for bc, else 0.",
        0,
        1,
    )
    hand_jitter: float = setting(
        0.02, "Standard deviation of noise on the observed hand joints.", 0, unit="rad"
    )
    points_jitter: float = setting(
        0.0, "Standard deviation of noise on the positions of points.", 0, unit="m"
    )
    memory_warp: float = setting(
        0.2,
        "Standard deviation of the random factors on the time between two values of the memory. A "
        "policy is rarely as fast as the expert; without this augmentation, the network counts "
        "tokens instead of distinguishing task steps.",
        0,
    )
    memory_disturbance: float = setting(
        0.0,
        "Share of windows whose memory is disturbed: in one half up to a third of the values are "
        "those of another window, in the other half one to three of the newest ones are missing. A "
        "policy then relies less on single values.",
        0,
        1,
    )
    safe_frame: bool | None = setting(
        None,
        "Transform joint positions as if the safe were at a fixed pose; requires a scene encoder, "
        "which estimates its actual pose. None: enabled if the network has a scene encoder and "
        "points_jitter is 0.",
    )
    checkpoint_every: int = setting(500, "Steps between two checkpoints.", 1)
    threads: int = setting(1, "Number of torch threads; it changes results by rounding errors.", 1)
    seed: int = setting(0, "Seed of weights, batches and noise.", 0)
