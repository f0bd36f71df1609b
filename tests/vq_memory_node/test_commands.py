"""`rulesafe memory tokens` and `plot` on a few short episodes."""

import numpy as np
import pytest
from matplotlib.axes import Axes
from PIL import Image

from rulesafe_cli.cli import main
from rulesafe_data.states import export_states
from rulesafe_data.tables import about, read_columns
from rulesafe_demos.render import Rendering, render
from vq_memory_node.commands import SUBCOMMANDS
from vq_memory_node.model_files import load_model
from vq_memory_node.plots import Strip, code_colours, draw_strips, principal, strips_of
from vq_memory_node.tokenizers import VqTokenizer, load_tokenizer
from vq_memory_node.trajectories import load_trajectories
from vq_memory_node.windows import STRIDE, window_at


@pytest.fixture(scope="module")
def found(recordings):
    return load_trajectories(recordings)


@pytest.fixture(scope="module")
def model(small_model):
    return load_model(small_model)


def test_tokens_are_those_of_the_tokenizer(recordings, small_model, found, tmp_path, capsys):
    out = tmp_path / "folder" / "tokens.parquet"
    assert (
        main(["memory", "tokens", str(recordings), "--model", str(small_model), "--out", str(out)])
        == 0
    )
    assert f"{found.frames} tokens of 8 episodes" in capsys.readouterr().out
    columns = read_columns(out)
    assert list(columns) == ["episode", "frame", "code", "cluster"]
    assert {column.dtype for column in columns.values()} == {np.dtype(np.int32)}
    assert len(columns["episode"]) == found.frames
    fine, coarse = load_tokenizer(small_model, 16), load_tokenizer(small_model, 4)
    for row in range(0, found.frames, 37):
        episode, frame, code, cluster = (int(column[row]) for column in columns.values())
        window = window_at(found.positions[episode], frame)
        assert (code, cluster) == (fine.token(window), coarse.token(window))
    lengths = np.bincount(columns["episode"])
    assert lengths.tolist() == [len(positions) for positions in found.positions]
    assert columns["frame"].tolist() == [i for length in lengths for i in range(length)]
    metadata = about(out)
    assert metadata["model"] == fine.hash and metadata["clusters"] == 4
    assert metadata["trajectories"] == found.digest


def test_tokens_are_the_same_bytes_again_and_from_another_form(copied, small_model, tmp_path):
    def written(data, name):
        arguments = [str(data), "--model", str(small_model), "--clusters", "2"]
        assert main(["memory", "tokens", *arguments, "--out", str(tmp_path / name)]) == 0
        return (tmp_path / name).read_bytes()

    first = written(copied, "a.parquet")
    assert written(copied, "b.parquet") == first
    render(copied, Rendering(copied, observations="joints"))
    export_states(copied, tmp_path / "states.parquet")
    assert written(tmp_path / "states.parquet", "c.parquet") == first


def test_a_number_of_clusters_that_is_not_there_is_refused(
    recordings, small_model, tmp_path, capsys
):
    arguments = ["tokens", str(recordings), "--model", str(small_model), "--clusters", "5"]
    assert main(["memory", *arguments, "--out", str(tmp_path / "t.parquet")]) == 2
    assert "valid: 2, 4, 16" in capsys.readouterr().err
    assert not (tmp_path / "t.parquet").exists()


@pytest.mark.train
def test_plot_writes_every_figure(recordings, small_model, tmp_path, capsys):
    out = tmp_path / "pictures"
    arguments = ["plot", str(recordings), "--model", str(small_model), "--out", str(out)]
    assert main(["memory", *arguments]) == 0
    names = {"strips_rule_001.png", "strips_rule_020.png", "codebook.png"}
    assert {path.name for path in out.iterdir()} == names
    printed = capsys.readouterr().out
    for name in names:
        assert f"wrote {out / name}" in printed
        picture = np.asarray(Image.open(out / name).convert("RGB"))
        assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 20


def test_strips_show_tokens_and_changes_where_they_are(model, found):
    strips = strips_of(model, found, "rule_020", 3)
    assert len(strips) == 3 and strips[1].name == "2\nsafe_02"
    for strip, episode in zip(strips, (1, 3, 5), strict=True):
        positions, steps = found.positions[episode], found.steps[episode]
        assert strip.frames == len(positions)
        ends = range(0, len(positions), STRIDE)
        fine = VqTokenizer(model, 16)
        assert strip.codes.tolist() == [fine.code(window_at(positions, end)) for end in ends]
        assert [step for _, step in strip.changes] == list(range(1, 8))
        for frame, step in strip.changes:
            assert (steps[frame - 1], steps[frame]) == (step - 1, step)
    assert len(strips_of(model, found, "rule_001", 99)) == 4


def test_principal_components_turn_the_codebook_and_keep_distances():
    codebook = np.random.default_rng(0).normal(size=(40, 6)).astype(np.float32)
    components, explained = principal(codebook)
    for points in (codebook.astype(float), components):
        assert np.linalg.norm(points[3] - points[17]) == pytest.approx(
            np.linalg.norm(codebook[3] - codebook[17]), rel=1e-5
        )
    covariance = components.T @ components
    assert covariance == pytest.approx(np.diag(np.diag(covariance)), abs=1e-4)
    assert explained.sum() == pytest.approx(1) and (np.diff(explained) <= 0).all()


def test_codes_along_the_codebook_grow_brighter():
    order = np.array([2, 0, 3, 1])
    brightness = code_colours(order)[order, :3].sum(axis=1)
    assert (np.diff(brightness) > 0).all()


def test_each_subcommand_says_what_it_does(capsys):
    for name in SUBCOMMANDS:
        with pytest.raises(SystemExit) as end:
            main(["memory", name, "--help"])
        assert end.value.code == 0
        assert f"Example: rulesafe memory {name} " in capsys.readouterr().out


def test_the_axis_of_strips_names_black_lines_only_where_they_are_drawn(tmp_path, monkeypatch):
    labels = []
    monkeypatch.setattr(Axes, "set_xlabel", lambda axes, text: labels.append(text))
    codes = np.array([0, 1])
    for changes in ((), ((7, 1),)):
        strip = Strip(codes, changes, 12, "1")
        draw_strips(tmp_path / "strips.png", "rule_001", [strip], codes, codes, codes)
    black = "time (s); black lines: number of completed steps of the plan"
    assert [label for label in labels if label] == ["time (s)", black]
