"""A policy of two levels: a classifier chooses the subtask, and frozen skills execute it.

The upper level reads instruction, memory, joints and scene features and predicts the subtask, such
as "turn the knob open"; compare the subtask prediction of pi0.5 (Physical Intelligence, 2025). The
lower level (skills.py) receives neither instruction nor memory. It is made once, of the
demonstrations of any rules, and is the same for all memories: a new memory or new rules only
require a training of the classifier, which takes minutes.

    rulesafe policy train demos --policy skills --memory none --out skills
    rulesafe policy train demos --policy two_level --skills skills --memory vq --out policy
"""

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from policy_node.batches import Batch, Network
from policy_node.configs import NetworkConfig, SkillsConfig, TwoLevelConfig
from policy_node.language import InstructionEncoder, tokenize
from policy_node.memory_encoders import MemoryEncoder
from policy_node.normaliser import Normaliser
from policy_node.scene_encoder import SceneEncoder
from policy_node.schedules import JOINTS
from policy_node.skills import Skills
from rulesafe_core.errors import RuleSafeError
from rulesafe_data.layout import SUBTASKS
from vq_memory_node.memory import MemoryShape


class SkilledNetwork(Network):
    """Base class of networks that choose a subtask, which frozen skills execute. `config` has the
    field `skills`."""

    config: Any

    def __init__(self, skills: str | SkillsConfig) -> None:
        super().__init__()
        self._normaliser: Normaliser | None = None
        self.skills = self._make_skills(skills)

    def _make_skills(self, skills: str | SkillsConfig) -> Skills:
        """Return the frozen lower level: a trained one by its folder, or one of a configuration,
        whose weights are then loaded from this network's checkpoint."""
        if isinstance(skills, SkillsConfig):
            return Skills(skills, MemoryShape()).requires_grad_(False)
        from policy_node.checkpoints import read_policy

        found = read_policy(skills)
        if not isinstance(found.config, SkillsConfig):
            raise RuleSafeError(f"{skills} is a policy {found.family}; valid: skills")
        self._normaliser = found.normaliser
        network = Skills(found.config, MemoryShape())
        if not next(network.parameters()).is_meta:  # there, weights are not needed
            network.load_state_dict(dict(found.weights))
        return network.requires_grad_(False)

    def reset(self) -> None:
        self.skills.reset()

    def sample(self, batch: Batch, generator: torch.Generator | None = None) -> Tensor:
        subtask = self.choose(batch) if batch.subtask is None else batch.subtask
        return self.skills.sample(replace(batch, subtask=subtask), generator)

    def built(self, config: NetworkConfig) -> NetworkConfig:
        skills = self.skills.built(self.skills.config)
        found: NetworkConfig = replace(self.config, skills=skills)
        return found

    def scene_encoder(self) -> SceneEncoder:
        return self.skills.scene_encoder()

    def normaliser(self) -> Normaliser | None:
        return self._normaliser


class TwoLevel(SkilledNetwork):
    """The network of both levels; only the upper one is trained."""

    def __init__(self, config: TwoLevelConfig, memory: MemoryShape) -> None:
        super().__init__(config.skills)
        encoder = self.skills.scene_encoder()
        if config.images != self.skills.config.images:
            size = "images" if self.skills.config.images else "tiny"
            raise RuleSafeError(f"these skills require the size {size}: --size {size}")
        self.config = config
        self.instruction = InstructionEncoder(config.language, config.heads)
        widths = config.memory_embedding, config.memory_features, config.memory_channels
        self.memory = None
        if memory.kind != "none":
            self.memory = MemoryEncoder(memory, *widths, config.memory_network)
        features = config.language + JOINTS * config.frames
        features += encoder.features * (config.cloud_frames + len(config.earlier_scenes))
        features += config.memory_features if self.memory else 0
        layers = [nn.Linear(features, config.hidden), nn.Mish()]
        layers += [nn.Linear(config.hidden, config.hidden), nn.Mish()]
        self.choice = nn.Sequential(*layers, nn.Linear(config.hidden, len(SUBTASKS)))
        self.reset()

    def logits(self, batch: Batch) -> Tensor:
        """Return the logits of the subtasks (B, 6)."""
        count = self.config.cloud_frames + len(self.config.earlier_scenes)
        scene = batch.scene(self.skills.encoder, count, self.config.points)
        if batch.language is None or batch.language_mask is None:
            raise ValueError("the batch has no instructions, which the network requires")
        parts = [
            self.instruction(batch.language, batch.language_mask),
            batch.joints.flatten(1),
            scene.flatten(1),
        ]
        if self.memory is not None:
            parts.append(self.memory(batch.memory, batch.memory_mask))
        logits: Tensor = self.choice(torch.cat(parts, dim=-1))
        return logits

    def loss(self, batch: Batch) -> Tensor:
        if batch.subtask is None:
            raise ValueError("the batch has no subtasks, which the network requires")
        return cross_entropy(self.logits(batch), batch.subtask)

    def reset(self) -> None:
        super().reset()
        self._scenes: list[Tensor] = []  # (1, 1, features) of the episode's inferences

    def choose(self, batch: Batch) -> Tensor:
        """Return the most probable subtask (B,) of which the skills have demonstrations."""
        if self.config.earlier_scenes:
            batch = replace(batch, scene_features=self._remember_scene(batch))
        missing = ~self.skills.available_subtasks()
        return self.logits(batch).masked_fill(missing, -torch.inf).argmax(-1)

    def _remember_scene(self, batch: Batch) -> Tensor:
        """Return the scene features (1, C, features) of the earlier scenes and of the current one;
        before the first inference, those of the first."""
        self._scenes.append(batch.scene(self.skills.encoder, 1, self.config.points))
        last, execute = len(self._scenes) - 1, self.skills.config.execute
        back = [offset // execute for offset in self.config.earlier_scenes]
        return torch.cat([self._scenes[max(0, last - each)] for each in [*back, 0]], dim=1)

    def token_ids(self, instruction: str) -> list[int]:
        return tokenize(instruction)

    def parts(self) -> dict[str, nn.Module]:
        parts = {"skills": self.skills, "instruction": self.instruction, "choice": self.choice}
        return parts | ({"memory": self.memory} if self.memory else {})
