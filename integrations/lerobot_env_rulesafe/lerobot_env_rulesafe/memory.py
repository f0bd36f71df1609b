"""VQ-Memory for LeRobot's pi0 and pi0.5: a step of their preprocessors appends the tokens."""

from dataclasses import dataclass
from typing import Any

import torch
from lerobot.configs.types import PipelineFeatureType, PolicyFeature
from lerobot.processor import ObservationProcessorStep
from lerobot.utils.constants import OBS_LANGUAGE_ATTENTION_MASK, OBS_LANGUAGE_TOKENS

from policy_node.language import memory_ids
from rulesafe_data.layout import MEMORY, MEMORY_MASK

VOCABULARY = 257_152
"""V, number of rows of PaliGemma's embedding table in LeRobot's pi0 and pi0.5."""

TEXT = 256_000
"""Number of ids that text can have, the first ones."""

SIMULATED = "observation.robot_state"
"""Key under which LeRobot passes on what `RuleSafeLeRobotEnv` adds to its observations."""


@dataclass
class MemoryTokensProcessorStep(ObservationProcessorStep):
    """Appends the memory tokens to the tokenised prompt; follows LeRobot's tokenizer step.

    Token j of a memory with N different tokens has the id V - N + j. The prompt of L positions is
    extended by M, so that no token is dropped. Padding of the prompt and tokens of windows before
    the episode's start are masked. The models compute positions from the mask, so that the first
    observed token has the position after the instruction's last one.

    Attributes:
        memory: description of the memory in meta/export.json of the dataset (`Memory.describe`).
    """

    memory: dict[str, Any]

    def __post_init__(self) -> None:
        most = VOCABULARY - TEXT
        if not 1 <= self.memory["clusters"] <= most:
            raise ValueError(
                f"a memory must have 1 to {most} different tokens, got {self.memory['clusters']}: "
                f"ids below {TEXT} are those of text"
            )

    def observation(self, observation: dict[str, Any]) -> dict[str, Any]:
        """Return the observation without the memory, and with the extended prompt (B, L + M) int64
        and its mask (B, L + M) bool.

        Raises:
            ValueError: the memory is missing or another one, or the prompt may be truncated.
        """
        simulated = observation.pop(SIMULATED, {})
        observation |= {f"observation.{key}": value for key, value in simulated.items()}
        if missing := [key for key in (MEMORY, MEMORY_MASK) if key not in observation]:
            raise ValueError(
                f"the policy requires {', '.join(missing)}: train it on a dataset exported with "
                "--memory-model, and evaluate it with --env.memory=FOLDER OF THE POLICY"
            )
        prompt = observation[OBS_LANGUAGE_TOKENS]
        mask = observation[OBS_LANGUAGE_ATTENTION_MASK]
        if mask[:, -1].any():
            raise ValueError(
                f"a prompt fills all {mask.shape[1]} positions of the tokenizer and may be "
                "truncated: use short instructions, or increase max_length of tokenizer_processor "
                "in the policy's policy_preprocessor.json"
            )
        # LeRobot returns one value per frame as (B,), and an observation may have no batch axis.
        shape = len(prompt), self.memory["length"]
        if observation[MEMORY].numel() != shape[0] * shape[1]:
            raise ValueError(
                f"a memory must have {shape[1]} tokens, got {tuple(observation[MEMORY].shape)} for "
                f"{shape[0]} prompts: it is another memory than that of the training"
            )
        tokens, observed = (
            observation.pop(key).to(prompt.device).reshape(shape) for key in (MEMORY, MEMORY_MASK)
        )
        count = self.memory["clusters"]
        if tokens.is_floating_point() or ((tokens < 0) | (tokens >= count)).any():
            raise ValueError(
                f"memory tokens must be integers 0..{count - 1}, got {tokens.dtype} "
                f"{tokens.min()}..{tokens.max()}: they are of another memory, or were normalised"
            )
        ids = memory_ids(tokens, VOCABULARY, count)
        observation[OBS_LANGUAGE_TOKENS] = torch.cat([prompt, ids], 1)
        observation[OBS_LANGUAGE_ATTENTION_MASK] = torch.cat([mask, observed.bool()], 1)
        return observation

    def get_config(self) -> dict[str, Any]:
        return {"memory": self.memory}

    def transform_features(
        self, features: dict[PipelineFeatureType, dict[str, PolicyFeature]]
    ) -> dict[PipelineFeatureType, dict[str, PolicyFeature]]:
        return features
