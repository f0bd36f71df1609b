"""Count the results of a generation: outcomes of replies, tokens, cost, yield, difficulty."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rulesafe_core.settings import Settings, setting
from rulesafe_design.difficulty import CELLS, cell_of
from rulesafe_design.models import Reply
from rulesafe_locks.lock_files import LockFile

ACCEPTED = "accepted"


@dataclass(frozen=True)
class Prices(Settings):
    """The prices of an endpoint per million tokens, in any currency; None: unknown."""

    tokens_in: float | None = setting(None, "", 0)
    tokens_out: float | None = setting(None, "", 0)


@dataclass
class Report:
    """The counts of a generation, updated while it runs."""

    count: int
    """Number of requested locks."""
    prices: Prices = Prices()
    conversations: int = 0
    """Number of started conversations."""
    failed: int = 0
    """Number of conversations that ended without a lock."""
    outcomes: Counter[str] = field(default_factory=Counter)
    """Number of replies by outcome: "accepted" or a kind of failure."""
    repairs: int = 0
    """Number of replies to an error description."""
    repaired: int = 0
    """Number of accepted locks that needed at least one repair."""
    retries: Counter[str] = field(default_factory=Counter)
    """Number of failed tries by kind (`models.FAILURES`, and "format")."""
    tokens_in: int = 0
    tokens_out: int = 0
    uncounted: int = 0
    """Number of replies without token counts, which are missing in tokens and cost."""
    locks: list[LockFile] = field(default_factory=list)
    """The accepted locks, in order."""
    stopped: str = ""
    """The reason why the generation ended early; empty if it did not."""

    def count_reply(self, reply: Reply, attempt: int) -> None:
        """Add a reply to the counts."""
        self.repairs += attempt > 0
        self.retries.update(reply.retries)
        self.tokens_in += reply.tokens_in or 0
        self.tokens_out += reply.tokens_out or 0
        self.uncounted += reply.tokens_in is None or reply.tokens_out is None

    @property
    def cost(self) -> float | None:
        """The cost in the currency of the prices; None if a price is unknown."""
        if self.prices.tokens_in is None or self.prices.tokens_out is None:
            return None
        spent = self.tokens_in * self.prices.tokens_in + self.tokens_out * self.prices.tokens_out
        return round(spent / 1e6, 6)

    @property
    def accepted(self) -> int:
        """Number of accepted locks."""
        return len(self.locks)

    @property
    def lock_yield(self) -> float:
        """Accepted locks per conversation, 0..1."""
        return self.accepted / self.conversations if self.conversations else 0.0

    @property
    def cells(self) -> dict[str, int]:
        """Number of locks in each cell of difficulty, by name."""
        found = Counter(cell_of(lock.facts) for lock in self.locks)
        other = {"other": found[None]} if found[None] else {}
        return {cell.name: found[cell] for cell in CELLS} | other

    @property
    def exit_code(self) -> int:
        """0: all requested locks were generated; 1: fewer; 2: stopped early."""
        return 2 if self.stopped else int(self.accepted < self.count)

    def as_json(self) -> dict[str, Any]:
        """Return the content of report.json."""
        return {
            "wanted": self.count,
            "asked": self.conversations,
            "accepted": self.accepted,
            "failed": self.failed,
            "outcomes": _sorted(self.outcomes),
            "repairs": self.repairs,
            "repaired": self.repaired,
            "retries": _sorted(self.retries),
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
            "uncounted": self.uncounted,
            "cost": self.cost,
            "yield": round(self.lock_yield, 4),
            "cells": self.cells,
            "stopped": self.stopped,
            "locks": [lock.id for lock in self.locks],
        }


def _sorted(counts: Mapping[str, int]) -> dict[str, int]:
    """Return counts sorted in descending order."""
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
