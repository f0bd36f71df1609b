"""`python -m rulesafe_studies reading` and `reading_policy`."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rulesafe_core.text_files import read_json
from rulesafe_data.bars import ProgressBar, training_bar
from rulesafe_data.files import write_json
from rulesafe_data.intervals import wilson
from rulesafe_locks.lock_sets import expand_rules
from rulesafe_locks.locks import Rule
from rulesafe_studies.data import DATA

SETS = ("sampled_test", "sampled_hard", "twenty", "written_validation", "written_test")
"""Sets of the table; the twenty are known from training, by name."""

NAMES = {"held out": "grammar, held out", "twenty": "the twenty rules (known)"}

AGENTS = ("reader", "shuffled", "cycle", "plan")
"""Columns of the table, see `measure`."""

HELD_OUT, HELD_OUT_SEED = 300, 999
"""Number of locks of another seed of the grammar, which are not in the corpus, and the seed."""


def reading(out: Path, locks: int = 120_000, steps: int = 20_000, workers: int = 2) -> None:
    """Train a parser of instructions and measure it at the move level.

    Run again with the same arguments to resume.

    Args:
        out: Folder of corpus, parser and results.
        locks: Number of locks of the grammar; about a fifth of them is too large, too long,
            impossible to open, or equal to a lock of a test.
        steps: Steps of the training.
        workers: Number of processes that write the corpus.
    """
    from rulesafe_studies.reading import corpus
    from rulesafe_studies.reading.training import ParserTraining, train_parser

    excluded = corpus.behaviours(SETS)
    held = corpus.pairs(HELD_OUT_SEED, range(2 * HELD_OUT), excluded)
    held_out = [pair for pair, _ in zip(held, range(HELD_OUT), strict=False)]
    folder = out / "corpus"
    folder.mkdir(parents=True, exist_ok=True)
    corpus.write_corpus(folder, 0, locks, excluded | {p.behaviour for p in held_out}, workers)
    pairs = corpus.read_corpus(folder, 0, locks)
    with training_bar(steps, "step") as show:
        train_parser(
            pairs,
            ParserTraining(steps=steps),
            out / "parser",
            lambda progress: show(progress.step, f"loss {progress.metrics['loss']:.4f}"),
        )
    table = measure(out / "parser", {"held out": lock_rules(held_out)} | sets_of(SETS))
    write_json(out / "reading.json", {"pairs": len(pairs), "steps": steps, "moves": table})
    for row in [["set", "locks", *AGENTS], *rows(table)]:
        print("\t".join(row))


def reading_policy(
    data: Path,
    skills: Path,
    out: Path,
    parser: str = "",
    cache: Path = Path("cache"),
    seed: int = 0,
) -> None:
    """Train the decoder of grasps and write the policy that reads.

    Args:
        data: Demonstrations with deliberate misses. Every tenth episode is held out.
        skills: Folder of the skills that execute the subtasks.
        out: Folder of the policy.
        parser: The parser, `parser.safetensors` of `reading`; by default the shipped one.
        cache: Folder for decoded data.
        seed: Seed of the training.
    """
    import torch

    from policy_node.families import make_network
    from rulesafe_data.store import EpisodeStore
    from rulesafe_reader.configs import ReaderConfig
    from rulesafe_reader.memory import Grasps
    from rulesafe_reader.network import ReaderNetwork
    from rulesafe_studies.reading import decoder

    store = EpisodeStore(data)
    torch.manual_seed(seed)
    network = make_network("reader", ReaderConfig(str(skills), parser=parser), Grasps().shape)
    assert isinstance(network, ReaderNetwork)
    numbers = [episode.index for episode in store.episodes]
    parts = [n for n in numbers if n % 10], numbers[::10]
    seen, held = (decoder.GraspWindows(store, part, network, cache) for part in parts)
    decoder.train_decoder(network, seen, seed)
    for name, part in (("trained on", seen), ("held out", held)):
        right = int((decoder.predicted(network, part) == part.classes).sum())
        failed = int((part.classes >= len(decoder.EVENTS)).sum())
        print(f"{name}: {right} of {len(part.classes)} grasps decoded; {failed} moved nothing")
    decoder.save_reader(network, seen, store, parts[0], seed, out)


def measure(parser: Path, sets: Mapping[str, Mapping[str, Rule]]) -> dict[str, dict[str, int]]:
    """Return how many locks of each set the reader opens, and the controls.

    reader: follows the instruction; shuffled: that of another lock of the set; cycle: the cycle of
    moves that opens most locks of sampled_train; plan: the most frequent plan of that set.
    """
    from rulesafe_reader.parser import load_parser
    from rulesafe_reader.reader import Reader
    from rulesafe_studies.reading import moves

    reader = Reader(load_parser(parser / "parser.safetensors"), slip=1e-6, turned_back=0.0)
    cycle, plan = moves.blind()
    table = {}
    for name, locks in sets.items():
        others = moves.shuffled(locks, seed=0)
        row = dict.fromkeys(AGENTS, 0)
        for key, lock in ProgressBar(locks.items(), desc=name):
            row["reader"] += moves.opens(lock, moves.reading(reader, lock.description))
            row["shuffled"] += moves.opens(lock, moves.reading(reader, others[key]))
            row["cycle"] += moves.opens(lock, moves.cycling(cycle))
            row["plan"] += moves.opens(lock, moves.planned(plan))
        table[name] = {"locks": len(locks), **row}
    return table


def rows(table: Mapping[str, Mapping[str, int]] | None = None) -> Iterator[list[str]]:
    """Yield the rows of a table of `measure`, by default of the published one, in percent with
    95 % intervals."""
    if table is None:
        table = read_json(DATA / "reading.json", "the results of the reader")["moves"]
    for name, row in table.items():
        cells = (_percent(row[agent], row["locks"]) for agent in AGENTS)
        yield [NAMES.get(name, name), str(row["locks"]), *cells]


def sets_of(names: Sequence[str]) -> dict[str, Mapping[str, Rule]]:
    """Return the locks of each set."""
    return {name: expand_rules(name) for name in names}


def lock_rules(pairs: Sequence[Any]) -> dict[str, Rule]:
    """Return the locks of pairs of the corpus, by number."""
    from rulesafe_locks.automata import as_rule
    from rulesafe_reader.designs import automaton_of_tokens

    return {
        str(number): as_rule(automaton_of_tokens(pair.tokens), str(number), pair.text)
        for number, pair in enumerate(pairs)
    }


def _percent(count: int, total: int) -> str:
    low, high = wilson(count, total)
    return f"{100 * count / total:.0f} ({100 * low:.0f}-{100 * high:.0f})"
