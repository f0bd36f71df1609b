"""The policy that reads: what the hand has done is decoded from its grasps, the reader chooses the
next event, and frozen skills execute it.

The memory must be `grasps`. Neither the instruction of the lock nor its design need to be known
from training, as long as the parser can translate the one into the other.
`python -m rulesafe_studies reading_policy` trains the decoder and makes the checkpoint.
"""

from pathlib import Path

import torch
from torch import Tensor, nn

from policy_node.batches import Batch
from policy_node.scene_encoder import QUANTITIES
from policy_node.schedules import JOINTS
from policy_node.two_level import SkilledNetwork
from rulesafe_core.chunks import PERIOD, SECOND
from rulesafe_core.errors import RuleSafeError
from rulesafe_data.layout import SUBTASKS
from rulesafe_reader.configs import ReaderConfig
from rulesafe_reader.parser import SHIPPED, load_parser
from rulesafe_reader.reader import Observed, Reader
from vq_memory_node.memory import MemoryShape

EVENTS = tuple(SUBTASKS)
"""Events of grasps; class i of the decoder is event i, class len(EVENTS) + i its failure."""

REFUSED = Observed("door+", False)
"""A pull of the door that took longer than PULL."""

CHOSEN = 2.0
"""Added to the logits of the event that was chosen when the hand was opened."""

PULL = 10.0
"""Time after the choice to pull the door within which it should be open, s: nine of ten that open
need less."""


class GraspDecoder(nn.Module):
    """Joint positions (B, 13) at the end of grasps, normalised, and the probabilities of the safes
    (B, S) -> logits (B, 12) of events and failed ones."""

    def __init__(self, safes: int, hidden: int) -> None:
        super().__init__()
        layers = [nn.Linear(JOINTS + safes, hidden), nn.Mish(), nn.Linear(hidden, hidden)]
        self.layers = nn.Sequential(*layers, nn.Mish(), nn.Linear(hidden, 2 * len(EVENTS)))

    def forward(self, joints: Tensor, safes: Tensor) -> Tensor:
        logits: Tensor = self.layers(torch.cat([joints, safes], dim=-1))
        return logits


class ReaderNetwork(SkilledNetwork):
    """The decoder, the reader and the skills."""

    def __init__(self, config: ReaderConfig, memory: MemoryShape) -> None:
        super().__init__(config.skills)
        if memory.kind != "raw":
            raise RuleSafeError(f"a policy that reads requires --memory grasps, got {memory}")
        self.config = config
        encoder = self.skills.scene_encoder()
        self.decoder = GraspDecoder(encoder.features - len(QUANTITIES), config.hidden)
        parser = load_parser(Path(config.parser) if config.parser else SHIPPED)
        self._word_ids = parser.word_ids
        self._reader = Reader(parser)
        self.reset()

    def reset(self) -> None:
        super().reset()
        self._chosen: list[int] = []  # event that was chosen at each grasp
        self._event = 0  # that of the last inference
        self._pulled = 0.0  # time for which the door has been pulled since the last grasp, s
        self._refusals: list[int] = []  # number of grasps before each time that it did not open

    def loss(self, batch: Batch) -> Tensor:
        raise RuleSafeError(
            "a policy that reads is trained by `python -m rulesafe_studies reading_policy`"
        )

    def history(self, batch: Batch) -> list[Observed]:
        """Return the events of an episode (B = 1), the oldest first: those of its grasps, and the
        failures of a pulled door. The release that follows such a failure is not an event."""
        assert batch.memory is not None and batch.memory_mask is not None
        grasps = batch.memory[0, batch.memory_mask[0]]
        logits = self.decoder(grasps, self.safes(batch).expand(len(grasps), -1)).clone()
        for number, event in enumerate(self._chosen[: len(grasps)]):
            logits[number, [event, len(EVENTS) + event]] += CHOSEN
        found = []
        for number, shares in enumerate(logits.softmax(-1).unflatten(-1, (2, len(EVENTS)))):
            if failures := self._refusals.count(number):
                found += failures * [REFUSED]
                continue
            event = int(shares.sum(0).argmax())  # of (2, events)
            happened, failed = shares[:, event].tolist()
            wrong = min(happened, failed) / (happened + failed)
            found.append(Observed(EVENTS[event], happened >= failed, wrong))
        return found + self._refusals.count(len(grasps)) * [REFUSED]

    def safes(self, batch: Batch) -> Tensor:
        """Return the probabilities of the safes (B, S), as estimated in the episode so far."""
        scene = batch.scene(self.skills.encoder, 1, self.config.points)
        return scene[:, -1, len(QUANTITIES) :]

    def choose(self, batch: Batch) -> Tensor:
        """Return the next subtask (1,); the door is pulled if the instruction is not understood."""
        assert batch.language is not None and batch.language_mask is not None
        assert batch.memory_mask is not None
        words = tuple(batch.language[0, batch.language_mask[0]].tolist())
        grasps = int(batch.memory_mask.sum())
        if grasps > len(self._chosen):
            self._chosen += [self._event] * (grasps - len(self._chosen))
            self._pulled = 0.0
        elif self._pulled > PULL:
            self._refusals.append(grasps)
            self._pulled = 0.0
        self._event = EVENTS.index(self._reader.next_event(words, self.history(batch)) or "door+")
        seconds = self.skills.config.execute * PERIOD / SECOND
        self._pulled = self._pulled + seconds if EVENTS[self._event] == "door+" else 0.0
        return torch.tensor([self._event], device=batch.joints.device)

    def token_ids(self, instruction: str) -> list[int]:
        return self._word_ids(instruction)
