"""LeRobot's configuration of the environment: the options `--env.*`."""

from dataclasses import dataclass, field
from typing import Any

from lerobot.configs.types import FeatureType, PolicyFeature
from lerobot.envs.configs import EnvConfig

from lerobot_env_rulesafe.env import ID
from rulesafe_core.cameras import DEFAULT_CAMERAS
from rulesafe_core.errors import RuleSafeError
from rulesafe_core.joints import ACTION_JOINTS
from rulesafe_data.layout import ACTION, FPS, STATE, image_key

_JOINTS = (len(ACTION_JOINTS),)


def _image(height: int, width: int) -> PolicyFeature:
    return PolicyFeature(FeatureType.VISUAL, (height, width, 3))


@EnvConfig.register_subclass("rulesafe")
@dataclass
class RuleSafeEnvConfig(EnvConfig):
    """Options of `--env.type=rulesafe`.

    The features of a policy have the names of RuleSafe's datasets. LeRobot passes the seeds:
    `--seed` is that of the first episode, 0..9999.

    Attributes:
        task: one rule: its id, or the path of its file.
        safes: comma-separated safes that the episodes use in turn, or "all" for those of the split.
        split: "nominal", "varied", "shifted" or the path of a YAML file.
        instruction: "long", as in datasets, or "short", as in exports.
        episode_length: maximum number of steps of 0.1 s; None: 20 s for each event of the rule's
            shortest plan.
        render_mode: "rgb_array": LeRobot writes videos.
        fps: actions per second; always 10.
        memory: folder of a policy with memory tokens, that of `--policy.path`; None: without.

    Raises:
        RuleSafeError: another `fps`.
    """

    task: str | None = "rule_001"
    fps: int = FPS
    safes: str = "all"
    split: str = "nominal"
    instruction: str = "long"
    episode_length: int | None = None
    render_mode: str = "rgb_array"
    memory: str | None = None
    features: dict[str, PolicyFeature] = field(
        default_factory=lambda: {
            "action": PolicyFeature(FeatureType.ACTION, _JOINTS),
            "agent_pos": PolicyFeature(FeatureType.STATE, _JOINTS),
            **{f"pixels/{c.name}": _image(c.height, c.width) for c in DEFAULT_CAMERAS},
        }
    )
    features_map: dict[str, str] = field(
        default_factory=lambda: {
            "action": ACTION,
            "agent_pos": STATE,
            **{f"pixels/{name}": image_key(name) for name in DEFAULT_CAMERAS.names},
        }
    )

    def __post_init__(self) -> None:
        if self.fps != FPS:
            raise RuleSafeError(f"RuleSafe-v1 has {FPS} actions per second, got fps {self.fps}")

    @property
    def package_name(self) -> str:
        return __package__

    @property
    def gym_id(self) -> str:
        return ID

    @property
    def gym_kwargs(self) -> dict[str, Any]:
        """Arguments of `RuleSafeLeRobotEnv`."""
        names = ("task", "safes", "split", "instruction", "episode_length", "render_mode", "memory")
        return {name: getattr(self, name) for name in names}
