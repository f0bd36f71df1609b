"""Encoding of stored episodes: the code of each window, and its cluster."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rulesafe_data.bars import ProgressBar
from rulesafe_data.tables import to_table, write_table
from vq_memory_node.model_files import MemoryModel
from vq_memory_node.tokenizers import make_tokenizer
from vq_memory_node.trajectories import Trajectories
from vq_memory_node.windows import window_at

KIND = "rulesafe tokens 1"


def codes_of(
    model: MemoryModel, positions: NDArray[np.float32], frames: Iterable[int]
) -> NDArray[np.int64]:
    """Return the codes (F,) of the windows that end at `frames` of an episode (N, 13), rad.

    A code is the index of a codebook entry. Its token is `model.clusters(J)[code]` for J tokens.
    """
    tokenizer = make_tokenizer(model, model.architecture.codes)
    windows = (window_at(positions, frame, tokenizer.window) for frame in frames)
    return np.fromiter(map(tokenizer.code, windows), np.int64)


def with_bar(found: Trajectories, title: str) -> Iterator[tuple[int, NDArray[np.float32]]]:
    """Yield the index and positions of each episode, with a progress bar on a terminal."""
    with ProgressBar(total=found.frames, unit="frame", desc=title, disable=None) as bar:
        for episode, positions in enumerate(found.positions):
            yield episode, positions
            bar.update(len(positions))


def write_tokens(out: Path, found: Trajectories, model: MemoryModel, clusters: int) -> int:
    """Write the tokens at all frames of all episodes to a Parquet file; return their number.

    Columns, int32: `episode`; `frame`; `code`, the code of the window that ends at this frame,
    numbered as the tokens of one cluster per code; `cluster`, the cluster of this code, which is
    the token that a policy receives. The metadata of the schema include the hashes of model and
    trajectories and the number of clusters. The same model and trajectories give the same bytes.

    Raises:
        RuleSafeError: the model does not offer this number of clusters.
    """
    cluster = model.clusters(clusters)
    codes = [
        codes_of(model, positions, range(len(positions)))
        for _, positions in with_bar(found, "encoding")
    ]
    lengths = [len(column) for column in codes]
    code = np.concatenate(codes)
    columns = {
        "episode": np.repeat(np.arange(len(found)), lengths),
        "frame": np.concatenate([np.arange(length) for length in lengths]),
        "code": model.clusters(model.architecture.codes)[code],
        "cluster": cluster[code],
    }
    about = {
        "kind": KIND,
        "model": model.hash,
        "codes": model.architecture.codes,
        "clusters": clusters,
        "window": model.window,
        "fps": model.rate,
        "trajectories": found.digest,
    }
    table = to_table({name: column.astype(np.int32) for name, column in columns.items()}, about)
    write_table(out, table)
    return len(code)
