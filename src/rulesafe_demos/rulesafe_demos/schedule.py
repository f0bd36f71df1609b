"""Which attempt comes next, so that none is made that the request does not need."""

from collections.abc import Mapping

from rulesafe_demos.attempts import Attempt, GenerationRequest


class AttemptSchedule:
    """Attempts of a request, given those that were decided before (rule -> number -> success).

    A rule's attempts are issued in order, and one more only while its successes and its attempts
    in hand are together fewer than the episodes wanted. So every attempt is needed whatever
    becomes of those in hand: in the end those up to the last success that counts were made, and no
    other, on any number of workers and after any number of interruptions.
    """

    def __init__(self, request: GenerationRequest, decided: Mapping[str, Mapping[int, bool]]):
        self.request = request
        self._decided = {rule: dict(decided[rule]) for rule in request.rules}
        self._next = dict.fromkeys(request.rules, 0)
        self._in_hand = dict.fromkeys(request.rules, 0)

    def successes(self, rule: str) -> int:
        """Of all attempts decided so far."""
        return sum(self._decided[rule].values())

    def decided(self, rule: str) -> int:
        return len(self._decided[rule])

    def next(self) -> Attempt | None:
        """An attempt to make now, of the rule that is furthest behind; None if none is needed
        before one in hand has ended."""
        for rule in sorted(self.request.rules, key=self._promised):
            number = self._skip(rule)
            if self._promised(rule) < self.request.episodes and number < self.request.attempts:
                self._next[rule] += 1
                self._in_hand[rule] += 1
                return self.request.attempt(rule, number)
        return None

    def done(self, attempt: Attempt, success: bool) -> None:
        """Notes how an attempt that `next` gave has ended."""
        self._in_hand[attempt.rule] -= 1
        self._decided[attempt.rule][attempt.number] = success

    def short(self) -> list[str]:
        """Rules whose attempts are used up before the episodes were reached."""
        wanted = self.request.episodes
        return [rule for rule in self.request.rules if self.successes(rule) < wanted]

    def _promised(self, rule: str) -> int:
        return self.successes(rule) + self._in_hand[rule]

    def _skip(self, rule: str) -> int:
        """The rule's next number that is neither decided nor in hand."""
        while self._next[rule] in self._decided[rule]:
            self._next[rule] += 1
        return self._next[rule]
