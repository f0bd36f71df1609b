"""Decode the messages that a video shows; see `rulesafe_core.messages`."""

from typing import Any

from rulesafe_core.messages import decode_tokens
from rulesafe_data.films.strip import Tokens
from rulesafe_data.layout import FPS
from rulesafe_sim.episode import TaskSnapshot


def decode_status(status: Any) -> TaskSnapshot:
    """Return the facts in a rulesafe_interfaces/EpisodeStatus."""
    return TaskSnapshot(
        rule=status.rule,
        safe=status.safe,
        seed=int(status.seed),
        plan=tuple(status.plan),
        steps_done=int(status.steps_done),
        process_score=float(status.process_score),
        order_free_score=float(status.order_free_score),
        part_open=dict(zip(status.parts, map(bool, status.part_open), strict=True)),
        success=bool(status.success),
        frame=int(status.frame),
        time=float(status.episode_time),
        clipped_actions=int(status.clipped_actions),
        state_digest=status.state_digest,
    )


def decode_memory(message: Any) -> Tokens:
    """Return the tokens of a rulesafe_interfaces/MemoryTokens with vocabulary and interval.

    Raises:
        RuleSafeError: a token is outside the vocabulary, or not each has its mask.
    """
    values, mask = decode_tokens(message)
    return Tokens(values, mask, int(message.vocabulary_size), message.stride / FPS)
