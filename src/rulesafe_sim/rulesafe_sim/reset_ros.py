"""Episodes of nodes that simulate: the parameters of the first one, and /episode/reset."""

from collections.abc import Callable
from dataclasses import dataclass

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.settings import Settings, setting
from rulesafe_interfaces.srv import ResetEpisode
from rulesafe_locks.rules import load_rule
from rulesafe_sim.episode import DEFAULT_SPLIT, time_limit
from rulesafe_sim.episodes import Episode
from rulesafe_sim.safes import load_safe


@dataclass(frozen=True)
class FirstEpisode(Settings):
    """Parameters of the first episode, for a node that starts episodes."""

    rule: str = setting("rule_001", "Rule: an id or the path of a lock's .json file.")
    safe: str = setting("safe_01", "Safe: an id or the path of a YAML file.")
    seed: int = setting(0, "Seed of the variation sampled from the split.", 0, 2**32 - 1)
    split: str = setting(
        DEFAULT_SPLIT, "Split of variations: nominal, varied, shifted, or the path of a YAML file."
    )

    def episode(self) -> Episode:
        """Return the episode; raise RuleSafeError for an unknown name."""
        return named_episode(self.rule, self.safe, self.seed, self.split)


def named_episode(rule: str, safe: str, seed: int, split: str) -> Episode:
    """Return an episode of a rule and a safe by ids or paths. Raises RuleSafeError if one is
    unknown."""
    found = load_rule(rule)
    load_safe(safe)
    lock = "" if rule == found.id else rule
    return Episode(found.id, safe, seed, split, lock=lock, time_limit=time_limit(found))


def answer_reset(
    request: ResetEpisode.Request,
    response: ResetEpisode.Response,
    loaded: Episode,
    begin: Callable[[Episode], int],
) -> ResetEpisode.Response:
    """Handle a request of /episode/reset.

    Args:
        request: request of the service.
        response: response of the service, which is filled and returned.
        loaded: current episode, whose rule and safe replace empty fields of the request.
        begin: function that starts an episode and returns its number. If it raises RuleSafeError,
            `success` is False and `message` the text of the error.
    """
    try:
        episode = requested_episode(request, loaded)
        response.episode = begin(episode)
    except RuleSafeError as error:
        response.success, response.message = False, str(error)
        return response
    response.success = True
    response.message = f"{episode.rule} on {episode.safe}, seed {episode.seed}"
    return response


def requested_episode(request: ResetEpisode.Request, loaded: Episode) -> Episode:
    """Return the episode of a request. Raises RuleSafeError if it is not valid."""
    if not request.episode:
        rule, safe = request.rule or loaded.source, request.safe or loaded.safe
        return named_episode(rule, safe, request.seed, loaded.split)
    if request.rule or request.safe or request.seed:
        raise RuleSafeError("episode determines rule, safe and seed: leave them empty")
    return Episode.from_json(request.episode)
