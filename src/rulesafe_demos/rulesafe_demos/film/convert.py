"""The evaluator's messages to plain data."""

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus

from rulesafe_demos.film.strip import Tokens
from rulesafe_demos.film.summary import Snapshot
from rulesafe_interfaces.msg import EpisodeStatus, MemoryTokens
from vq_memory_node.convert import from_memory_tokens
from vq_memory_node.windows import RATE


def to_snapshot(status: EpisodeStatus) -> Snapshot:
    return Snapshot(
        rule=status.rule,
        safe=status.safe,
        seed=status.seed,
        plan=tuple(status.plan),
        steps_done=status.steps_done,
        process_score=status.process_score,
        order_free_score=status.order_free_score,
        part_open=dict(zip(status.parts, status.part_open, strict=True)),
        success=status.success,
        frame=status.frame,
        time=status.episode_time,
        clipped_actions=status.clipped_actions,
        state_digest=status.state_digest,
    )


def to_tokens(message: MemoryTokens) -> Tokens:
    """What a film shows of a memory. Errors: RuleSafeError for tokens that make no sense."""
    return Tokens(from_memory_tokens(message), message.vocabulary_size, message.stride / RATE)


def failures(message: DiagnosticArray) -> list[tuple[str, int, str]]:
    """Key, value and reason of each error that names an episode: by its number (key `episode`), or
    by the stamp of its start in ns (`episode_started`), for a policy does not know its number."""
    found = []
    for status in message.status:
        values = {value.key: value.value for value in status.values}
        for key in ("episode", "episode_started"):
            if status.level == DiagnosticStatus.ERROR and values.get(key, "").isdigit():
                found.append((key, int(values[key]), f"{status.name}: {status.message}"))
    return found
