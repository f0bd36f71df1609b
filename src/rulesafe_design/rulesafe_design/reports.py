"""The report of a generation: replies by outcome, tokens, cost, yield, difficulty."""

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
    """The prices of an endpoint for a million tokens, in any currency; None: unknown."""

    tokens_in: float | None = setting(None, "", 0)
    tokens_out: float | None = setting(None, "", 0)


@dataclass
class Report:
    """The counts, filled in while locks are generated."""

    count: int
    """Locks that are wanted."""
    prices: Prices = Prices()
    asked: int = 0
    """Conversations begun."""
    failed: int = 0
    """Conversations that ended without a lock."""
    outcomes: Counter[str] = field(default_factory=Counter)
    """Replies by outcome: "accepted", or a kind of failure."""
    repairs: int = 0
    """Replies after a failure was fed back."""
    repaired: int = 0
    """Accepted locks that needed such a reply."""
    retries: Counter[str] = field(default_factory=Counter)
    """Tries without a reply, by kind (`models.FAILURES`, and "format")."""
    tokens_in: int = 0
    tokens_out: int = 0
    uncounted: int = 0
    """Replies without reported tokens, which are not part of tokens and cost."""
    locks: list[LockFile] = field(default_factory=list)
    """Those accepted, in order."""
    stopped: str = ""
    """Why the generation ended early, if it did."""

    def count_reply(self, reply: Reply, attempt: int) -> None:
        """Count a reply."""
        self.repairs += attempt > 0
        self.retries.update(reply.retries)
        self.tokens_in += reply.tokens_in or 0
        self.tokens_out += reply.tokens_out or 0
        self.uncounted += reply.tokens_in is None or reply.tokens_out is None

    @property
    def cost(self) -> float | None:
        """In the currency of the prices; None without both."""
        if self.prices.tokens_in is None or self.prices.tokens_out is None:
            return None
        spent = self.tokens_in * self.prices.tokens_in + self.tokens_out * self.prices.tokens_out
        return round(spent / 1e6, 6)

    @property
    def accepted(self) -> int:
        """Number of locks."""
        return len(self.locks)

    @property
    def lock_yield(self) -> float:
        """Locks per conversation, 0..1."""
        return self.accepted / self.asked if self.asked else 0.0

    @property
    def cells(self) -> dict[str, int]:
        """Number of locks in each cell of difficulty, by name."""
        found = Counter(cell_of(lock.facts) for lock in self.locks)
        other = {"other": found[None]} if found[None] else {}
        return {cell.name: found[cell] for cell in CELLS} | other

    @property
    def exit_code(self) -> int:
        """0: all wanted locks; 1: fewer; 2: stopped early."""
        return 2 if self.stopped else int(self.accepted < self.count)

    def as_json(self) -> dict[str, Any]:
        """Return the content of report.json."""
        return {
            "wanted": self.count,
            "asked": self.asked,
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
    """Sort counts, the largest first."""
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
