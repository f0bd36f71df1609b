"""The generated tables and figures of README.md and docs/.

A page marks the place of a table: `<!-- begin: NAME -->`, head and rows, `<!-- end: NAME -->`.
"""

import re
import sys
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from rulesafe_core.errors import RuleSafeError
from rulesafe_core.files import write_atomically
from rulesafe_studies import csv_tables, leaderboard, lock_yield, peers, tables
from rulesafe_studies.data import RESULTS, ROOT
from rulesafe_studies.figures import draw_figures
from rulesafe_studies.moves import results as moves
from rulesafe_studies.reading import commands as reading
from rulesafe_studies.reading import results as with_robot

EXPERT = (
    ("all", "expert", "all"),
    ("[task programs](../programs.md)", "programs", "all"),
    ("[200 generated locks](sampled.md)", "sampled", "all"),
)
DEMONSTRATIONS = tuple((name, "demonstrations", name) for name in ("rule_001", "rule_020", "all"))

BLOCKS: dict[str, Callable[[], str | Iterable[Iterable[str]]]] = {
    "additions": tables.additions,
    "by_rule": tables.by_rule,
    "causes": tables.causes,
    "demonstrations": partial(csv_tables.expert, *DEMONSTRATIONS),
    "expert": partial(csv_tables.expert, *EXPERT),
    "generated": tables.generated,
    "leaderboard": leaderboard.text,
    "lengths": tables.lengths,
    "memories": tables.memories,
    "moves": moves.rows,
    "moves_by_bits": moves.rows_by_bits,
    "network": tables.network,
    "network_causes": tables.network_causes,
    "network_conditions": partial(
        tables.conditions, "network/vq_all_joints_0", "network/vq_all_joints_0"
    ),
    "network_memories": partial(tables.memories, ("network",), "vq_all_joints"),
    "network_recovery": partial(tables.turned_back, "network/vq_all_joints_0_turn-back.json"),
    "one_rule": csv_tables.one_rule,
    "peers": peers.text,
    "readme": tables.readme,
    "reading": reading.rows,
    "reading_recovery": partial(tables.turned_back, "reading/reader_all_turn-back.json"),
    "reading_with_robot": with_robot.rows,
    "robustness": partial(tables.conditions, "twenty_rules/vq_0", "robustness/vq_0"),
    "sampled": partial(csv_tables.expert, ("all", "sampled", "all")),
    "shifted": tables.shifted,
    "sizes": tables.sizes,
    "step_probe": csv_tables.step_probe,
    "token_counts": csv_tables.token_counts,
    "token_stability": csv_tables.token_stability,
    "turned_back": partial(tables.turned_back, "robustness/vq_0_turn-back.json"),
    "twenty_rules": tables.twenty_rules,
    "yield_of_locks": partial(lock_yield.rows, "locks"),
    "yield_of_programs": partial(lock_yield.rows, "programs"),
}
"""Name of a block -> its text, or the rows below the head of its table."""

BLOCK = re.compile(r"(<!-- begin: (\w+) -->\n)(.*?)(<!-- end: \2 -->)", re.S)


def written(text: str) -> str:
    """Return the text of a page with its blocks computed again.

    Raises:
        RuleSafeError: a block has an unknown name, or no head of a table.
    """
    return BLOCK.sub(_block, text)


def _block(found: "re.Match[str]") -> str:
    begin, name, old, end = found.groups()
    if name not in BLOCKS:
        raise RuleSafeError(f"unknown block {name!r}; valid: {', '.join(BLOCKS)}")
    new = BLOCKS[name]()
    if isinstance(new, str):
        return f"{begin}\n{new}\n\n{end}"
    head = re.match(r"\n\|.*\n\|[-:| ]*\n", old)
    if not head:
        raise RuleSafeError(f"the block {name} does not begin with the head of a table")
    lines = ("".join(f" {cell} |" if cell else " |" for cell in row) for row in new)
    return begin + head[0] + "".join(f"|{line}\n" for line in lines) + f"\n{end}"


def pages() -> list[Path]:
    """Return the pages that have blocks."""
    found = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [path for path in found if BLOCK.search(path.read_text("utf-8"))]


def write(check: bool = False) -> int:
    """Write the tables and figures of README.md and docs/ from docs/results/data.

    Args:
        check: Only name the pages whose tables would change; exit code 1 if there are any.
    """
    changed = []
    for path in pages():
        old = path.read_text("utf-8")
        if (new := written(old)) != old:
            changed.append(path)
            if not check:
                write_atomically(path, new.encode())
    for path in changed:
        print(path.relative_to(ROOT), file=sys.stderr if check else sys.stdout)
    if not check:
        draw_figures(RESULTS)
    return int(check and bool(changed))
