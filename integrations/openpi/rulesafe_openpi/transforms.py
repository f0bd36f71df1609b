"""Data transforms for openpi, which are used in training and inference alike. They need only numpy.

Each class is a `DataTransformFn` of openpi's `transforms.py`: a function from the dict of one
frame, without a batch axis, to another dict. The keys of the input are those of a policy server's
observation; `REPACK` maps the columns of a dataset to them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

ARM, HAND = 7, 6
"""Number of joints of the right arm and the right hand, in the order of state and action."""

VOCABULARY = 257_152
"""V, number of ids of PaliGemma's tokenizer and of rows of its embedding table
(`PALIGEMMA_VOCAB_SIZE` in openpi's `models/gemma.py`)."""

TEXT = 256_000
"""Number of ids that text can have, the first ones. 1024 ids <loc0000>.. and 128 ids <seg000>..
follow (PaliGemma; Beyer et al., 2024)."""

MEMORY, MEMORY_MASK = "observation/memory_tokens", "observation/memory_mask"
"""Keys of an observation: memory tokens (M,), oldest first, and which of them were observed."""

REPACK = {
    "observation/image": "observation.images.front",
    "observation/wrist_image": "observation.images.head",
    "observation/state": "observation.state",
    "actions": "action",
    "prompt": "prompt",
}
"""Key of an observation -> column of the dataset."""

REPACK_MEMORY = {MEMORY: "observation.memory_tokens", MEMORY_MASK: "observation.memory_mask"}
"""The same for the memory."""


@dataclass(frozen=True)
class RuleSafeInputs:
    """Converts an observation, and in training the actions, to the inputs of pi0 and pi0.5.

    The camera `front` is the base image and the camera `head` takes the place of the left wrist's.
    The third image is masked, which pi0 and pi0.5 support, and pi0-FAST does not.

    Attributes:
        memory: whether the observation contains memory tokens.
    """

    memory: bool = False

    def __call__(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return state (13,), image and image_mask by camera, and, if present, actions (n, 13) and
        prompt; with memory also memory_tokens (M,) and memory_mask (M,).

        Raises:
            ValueError: the memory is missing.
        """
        front = _image(data["observation/image"])
        found = {
            "state": np.array(data["observation/state"], np.float32),
            "image": {
                "base_0_rgb": front,
                "left_wrist_0_rgb": _image(data["observation/wrist_image"]),
                "right_wrist_0_rgb": np.zeros_like(front),
            },
            "image_mask": {
                "base_0_rgb": np.True_,
                "left_wrist_0_rgb": np.True_,
                "right_wrist_0_rgb": np.False_,
            },
        }
        if "actions" in data:
            # A copy: openpi subtracts the state in place.
            found["actions"] = np.array(data["actions"], np.float32)
        if "prompt" in data:
            found["prompt"] = data["prompt"]
        if self.memory:
            if missing := [key for key in (MEMORY, MEMORY_MASK) if key not in data]:
                raise ValueError(
                    f"the observation lacks {', '.join(missing)}; a policy with memory requires "
                    "them from the dataset or the client"
                )
            found["memory_tokens"] = np.atleast_1d(np.asarray(data[MEMORY]))
            found["memory_mask"] = np.atleast_1d(np.asarray(data[MEMORY_MASK], bool))
        return found


@dataclass(frozen=True)
class RuleSafeOutputs:
    """Removes the padding of the model's actions."""

    def __call__(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return the actions (n, 13), rad."""
        return {"actions": np.asarray(data["actions"])[:, : ARM + HAND]}


@dataclass(frozen=True)
class AppendMemoryTokens:
    """Appends the observed memory tokens to the tokenised prompt, oldest first.

    Token j has the id `VOCABULARY` - `vocabulary` + j (Wang et al., "VQ-Memory", section
    "Experimental Setup"). To be used after openpi's `TokenizePrompt`. Padding follows the memory;
    openpi computes positions from the mask, so that padding has no influence on them.

    Attributes:
        vocabulary: N, number of different memory tokens. At most 128 have only ids of <seg>, which
            pi0-FAST does not use for actions; more than 1152 would have ids of text.
    """

    vocabulary: int

    def __post_init__(self) -> None:
        most = VOCABULARY - TEXT
        if not 1 <= self.vocabulary <= most:
            raise ValueError(
                f"a memory must have 1 to {most} different tokens, got {self.vocabulary}: "
                f"ids below {TEXT} are those of text"
            )

    def __call__(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return the data without memory_tokens (M,) and memory_mask (M,), and with the extended
        tokenized_prompt (L,) and tokenized_prompt_mask (L,).

        Raises:
            ValueError: the prompt leaves no room for M tokens, or a token is not one of the memory.
        """
        data = dict(data)
        tokens, observed = data.pop("memory_tokens"), data.pop("memory_mask")
        ids = memory_ids(tokens[observed], self.vocabulary)
        prompt, mask = (np.array(data[f"tokenized_prompt{end}"]) for end in ("", "_mask"))
        count = int(mask.sum())
        # Also while few tokens are observed, so that it fails at the first frame of an episode.
        if count + len(tokens) > len(prompt):
            raise ValueError(
                f"a prompt of {count} tokens (or more, if it was truncated) and a memory of "
                f"{len(tokens)} exceed max_token_len {len(prompt)} of the model's configuration"
            )
        prompt[count : count + len(ids)] = ids
        mask[count : count + len(ids)] = True
        return {**data, "tokenized_prompt": prompt, "tokenized_prompt_mask": mask}


def memory_ids(tokens: NDArray[Any], vocabulary: int) -> NDArray[np.int64]:
    """Return the ids of memory tokens 0 .. vocabulary - 1: the last ones of PaliGemma's.

    Raises:
        ValueError: a token is out of range.
    """
    tokens = np.asarray(tokens, np.int64)
    if ((tokens < 0) | (tokens >= vocabulary)).any():
        raise ValueError(
            f"memory tokens must be 0..{vocabulary - 1}, got {tokens.min()}..{tokens.max()}: the "
            "observation is of another memory than that of the training"
        )
    return VOCABULARY - vocabulary + tokens


def _image(image: Any) -> NDArray[np.uint8]:
    """Return an image (H, W, 3) uint8; LeRobot has (3, H, W) float32 in 0..1."""
    image = np.asarray(image)
    if np.issubdtype(image.dtype, np.floating):
        image = np.rint(255 * image).astype(np.uint8)
    return image.transpose(1, 2, 0) if image.shape[0] == 3 else image
