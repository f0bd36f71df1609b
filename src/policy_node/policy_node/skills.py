"""Skills: a network that executes a given subtask, such as "turn the knob open", on any safe.

It is the lower level of `two_level` and receives neither an instruction nor a memory. A residual
MLP with feature-wise modulation (FiLM; Perez et al., 2018) predicts the chunk from the joints in
the safe frame and from the pair of safe and subtask, which has a motion of its own and modulates
the MLP. The scene encoder estimates the safe and its pose; its estimates of the parts' positions
are not used, since the hand hides the parts and their errors are large. Targets are regressed with
the absolute error: the demonstrations of a subtask have one mode, so that a diffusion process would
add computing time only.
"""

from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.nn.functional import l1_loss, one_hot

from policy_node.batches import Batch, Network
from policy_node.configs import NetworkConfig, SkillsConfig
from policy_node.policy import CHUNK
from policy_node.scene_encoder import QUANTITIES, SceneEncoder, make_encoder
from policy_node.schedules import JOINTS
from rulesafe_core.errors import RuleSafeError
from rulesafe_data.layout import SUBTASKS
from vq_memory_node.memory import MemoryShape


class ModulatedBlock(nn.Module):
    """A residual block (B, width), scaled and shifted by a condition (B, C)."""

    def __init__(self, width: int, condition: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.layer = nn.Linear(width, width)
        self.modulation = nn.Linear(condition, 2 * width)
        nn.init.zeros_(self.modulation.weight)
        nn.init.zeros_(self.modulation.bias)

    def forward(self, x: Tensor, condition: Tensor) -> Tensor:
        scale, shift = self.modulation(condition).chunk(2, dim=-1)
        hidden = self.norm(x) * (1 + scale) + shift
        changed: Tensor = x + nn.functional.mish(self.layer(hidden))
        return changed


class Skills(Network):
    """The network of the skills."""

    def __init__(self, config: SkillsConfig, memory: MemoryShape) -> None:
        super().__init__()
        if memory.kind != "none":
            raise RuleSafeError(f"skills have no memory, got {memory.kind}; valid: none")
        self.config = config
        self.encoder = make_encoder(config.encoder)
        safes = self.encoder.features - len(QUANTITIES)
        pairs = safes * len(SUBTASKS)
        inputs = JOINTS * config.frames + pairs
        self.enter = nn.Linear(inputs, config.width)
        self.blocks = nn.ModuleList(
            ModulatedBlock(config.width, pairs) for _ in range(config.blocks)
        )
        self.leave = nn.Sequential(
            nn.LayerNorm(config.width), nn.Linear(config.width, CHUNK * JOINTS)
        )
        # Targets relative to the posture depend linearly on it.
        self.linear = nn.Linear(inputs, CHUNK * JOINTS)

    def predict(self, batch: Batch) -> Tensor:
        """Return the predicted chunk (B, 50, 13), normalised."""
        if batch.subtask is None:
            raise RuleSafeError("skills execute a given subtask: train a two_level policy on them")
        scene = batch.scene(self.encoder, count=self.config.points)
        subtask = one_hot(batch.subtask, len(SUBTASKS)).to(scene.dtype)
        safe = scene[:, -1, len(QUANTITIES) :]
        pairs = (safe[:, :, None] * subtask[:, None]).flatten(1)
        inputs = torch.cat([batch.joints.flatten(1), pairs], dim=-1)
        x = self.enter(inputs)
        for block in self.blocks:
            x = block(x, pairs)
        chunk: Tensor = self.leave(x) + self.linear(inputs)
        return chunk.view(-1, CHUNK, JOINTS)

    def loss(self, batch: Batch) -> Tensor:
        assert batch.actions is not None
        return l1_loss(self.predict(batch), batch.actions)

    def sample(self, batch: Batch, generator: torch.Generator | None = None) -> Tensor:
        return self.predict(batch)

    def built(self, config: NetworkConfig) -> NetworkConfig:
        return replace(self.config, encoder=self.encoder.config)

    def scene_encoder(self) -> SceneEncoder:
        return self.encoder

    def parts(self) -> dict[str, nn.Module]:
        return {
            name: getattr(self, name) for name in ("encoder", "enter", "blocks", "leave", "linear")
        }
