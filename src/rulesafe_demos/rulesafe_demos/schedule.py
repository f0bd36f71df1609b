"""Schedule of attempts: a rule gets no more attempts than its requested successes require."""

from collections.abc import Mapping

from rulesafe_demos.attempts import GenerationRequest
from rulesafe_sim.episodes import Episode


class AttemptSchedule:
    """Schedules the attempts of a request, given those made before (rule -> number -> success).

    The attempts of a rule are issued in order. A new one is issued only while the number of
    successes plus the number of running attempts is below the requested number of episodes, so no
    attempt is superfluous. At the end exactly the attempts up to the last required success have
    been made, for any number of workers and interruptions.
    """

    def __init__(self, request: GenerationRequest, decided: Mapping[str, Mapping[int, bool]]):
        self.request = request
        self._decided = {rule: dict(decided[rule]) for rule in request.rules}
        self._next = dict.fromkeys(request.rules, 0)
        self._in_hand = dict.fromkeys(request.rules, 0)

    def successes(self, rule: str) -> int:
        """Return the number of successes so far."""
        return sum(self._decided[rule].values())

    def decided(self, rule: str) -> int:
        return len(self._decided[rule])

    def next(self) -> Episode | None:
        """Return the next attempt, of the rule with the fewest successes and running attempts; None
        if none is needed before a running one has ended."""
        for rule in sorted(self.request.rules, key=self._promised):
            number = self._skip(rule)
            if self._promised(rule) < self.request.episodes and number < self.request.attempts:
                self._next[rule] += 1
                self._in_hand[rule] += 1
                return self.request.episode(rule, number)
        return None

    def done(self, episode: Episode, success: bool) -> None:
        """Store the outcome of an attempt returned by `next`."""
        self._in_hand[episode.rule] -= 1
        self._decided[episode.rule][episode.number] = success

    def short(self) -> list[str]:
        """Return the rules that lack episodes."""
        wanted = self.request.episodes
        return [rule for rule in self.request.rules if self.successes(rule) < wanted]

    def _promised(self, rule: str) -> int:
        return self.successes(rule) + self._in_hand[rule]

    def _skip(self, rule: str) -> int:
        """Return the rule's next number that is neither decided nor running."""
        while self._next[rule] in self._decided[rule]:
            self._next[rule] += 1
        return self._next[rule]
