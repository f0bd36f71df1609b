"""The configuration of the reader; without torch."""

from dataclasses import dataclass

from policy_node.configs import SKILLS_SIZES, NetworkConfig, SkillsConfig
from policy_node.families import Family


@dataclass(frozen=True)
class ReaderConfig(NetworkConfig):
    """A policy that reads (rulesafe_reader.network).

    Attributes:
        skills: the frozen skills that execute the subtasks, as in TwoLevelConfig.
        frames, points, images, cloud_frames: as in SkillsConfig; those of the skills.
        hidden: width of the two hidden layers that decode a grasp.
        parser: file of the parser; empty: the shipped one.
    """

    skills: str | SkillsConfig = SKILLS_SIZES["tiny"]
    frames: int = 3
    points: int = 256
    images: bool = False
    cloud_frames: int = 1
    hidden: int = 128
    parser: str = ""

    @property
    def instruction(self) -> bool:
        return True

    @property
    def mean_identity(self) -> bool:
        return True


READER_SIZES = {
    "tiny": ReaderConfig(),
    "images": ReaderConfig(SKILLS_SIZES["images"], points=0, images=True),
}
"""Configurations by size: `images` requires skills of the size images."""

READER = Family(
    "rulesafe_reader.configs:READER_SIZES",
    "rulesafe_reader.network:ReaderNetwork",
    "translates the instruction into the design of a lock, whose automaton is followed",
)
