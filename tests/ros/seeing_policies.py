"""Policies whose chunks depend on every bit of their observations, so that any difference in an
observation changes the motion."""

import hashlib
import time

import numpy as np

from policy_node.policy import CHUNK, Needs
from rulesafe_core.errors import RuleSafeError
from rulesafe_studies.controls import RandomClusters
from rulesafe_studies.keyframes import OraclePhases
from vq_memory_node.memory import RawMemory, VqMemory


class Seeing:
    """A small random walk from the present posture, seeded by a hash of the observation and of the
    number of inferences in this episode."""

    needs = Needs(frames=3)

    def __init__(self):
        self.asked = 0

    def reset(self):
        self.asked = 0

    def infer(self, observation):
        self.asked += 1
        seen = hashlib.sha256(f"{self.asked} {observation.instruction}".encode())
        parts = [observation.joints, observation.memory.values, observation.memory.mask]
        parts += [] if observation.points is None else [observation.points]
        parts += [observation.images[camera] for camera in sorted(observation.images)]
        for part in parts:
            seen.update(repr((part.shape, part.dtype)).encode() + part.tobytes())
        rng = np.random.default_rng(list(seen.digest()))
        steps = rng.uniform(-0.02, 0.02, (CHUNK, 13))
        return (observation.joints[-1] + np.cumsum(steps, axis=0)).astype(np.float32)


class InstructedPolicy(Seeing):
    """Observes the instruction."""

    needs = Needs(frames=2, instruction=True)


class ShortlyInstructedPolicy(Seeing):
    """Observes the short instruction."""

    needs = Needs(instruction=True, instruction_length="short")


class Remembering(Seeing):
    """Observes the tokens of the memory node."""

    needs = Needs(frames=2, memory=True)
    memory = VqMemory("all_rules", 4, length=20)


class Stateless(Remembering):
    """Its chunk depends on the current observation only."""

    needs = Needs(frames=1, memory=True)

    def infer(self, observation):
        self.asked = 0
        return super().infer(observation)


class Recalling(Seeing):
    """Observes the raw joint-position history."""

    needs = Needs(frames=1, memory=True)
    memory = RawMemory(length=10)


class Clustered(Recalling):
    """Observes tokens that the memory node does not publish."""

    memory = RandomClusters(length=10)


class Informed(Recalling):
    """Observes the phases of the parts, which are privileged."""

    memory = OraclePhases()


class Watching(Seeing):
    """Observes all inputs."""

    needs = Needs(frames=3, points=256, images=True, instruction=True, memory=True)
    memory = VqMemory("all_rules", 4)


class Looking(Seeing):
    """Observes the images, which must have the size of its cameras."""

    needs = Needs(images=True)

    def infer(self, observation):
        assert {image.shape for image in observation.images.values()} == {(224, 224, 3)}
        return super().infer(observation)


class Slow(Seeing):
    """Has a long inference time."""

    def infer(self, observation):
        time.sleep(1.0)
        return super().infer(observation)


class GivingUp(Seeing):
    """Raises an error after its first chunk."""

    def infer(self, observation):
        if self.asked:
            raise RuleSafeError("the hand is not where it should be")
        return super().infer(observation)


class GivingUpLate(Seeing):
    """Raises an error after a long first inference."""

    def __init__(self):
        super().__init__()
        self.thought = False

    def infer(self, observation):
        if not self.thought:
            self.thought = True
            time.sleep(15.0)  # until the next episode has begun, also on a busy machine
            raise RuleSafeError("that was too hard")
        return super().infer(observation)


class Diverging(Seeing):
    """Returns values that are not finite in its first episode, and valid chunks in others."""

    episodes = 0

    def reset(self):
        super().reset()
        self.episodes += 1

    def infer(self, observation):
        chunk = super().infer(observation)
        return chunk * np.nan if self.episodes == 1 else chunk


class Broken(Seeing):
    """Raises an unexpected exception."""

    def infer(self, observation):
        return observation.joints["hand"]
