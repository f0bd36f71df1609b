import numpy as np
import pytest

from rulesafe_core.errors import RuleSafeError
from rulesafe_data.states import load_states
from vq_memory_node.model_files import Architecture, load_model
from vq_memory_node.tokenizers import VqTokenizer, load_tokenizer
from vq_memory_node.windows import window_at


@pytest.fixture(scope="module")
def windows(request):
    """Windows that end at 300 random frames of real demonstrations."""
    states = load_states(request.config.rootpath / "datasets/rule_001_rule_020.parquet")
    rng = np.random.default_rng(0)
    paths = [states[int(rng.integers(len(states)))][0] for _ in range(300)]
    return [window_at(path, int(rng.integers(len(path)))) for path in paths]


def test_the_token_is_the_cluster_of_the_nearest_code(model_dir, windows):
    model = load_model(model_dir)
    tokenizer = VqTokenizer(model, 4)
    for window in windows:
        latent = tokenizer.encoder.latent(window).astype(float)
        distances = ((model.arrays["codebook"] - latent) ** 2).sum(1)
        code = tokenizer.code(window)
        assert distances[code] <= distances.min() * (1 + 1e-5)
        assert tokenizer.token(window) == model.clusters(4)[code]


def test_how_a_window_lies_in_memory_does_not_matter(model_dir, trajectory):
    tokenizer = VqTokenizer(load_model(model_dir), 256)
    path = trajectory(120)
    for frame in range(49, 120):  # views into one array, and copies of them
        view = path[frame - 49 : frame + 1]
        assert tokenizer.code(view) == tokenizer.code(view.copy())
    strided = np.asfortranarray(path[:50])
    reverse = path[:50][::-1].copy()[::-1]
    np.testing.assert_array_equal(
        tokenizer.encoder.latent(reverse), tokenizer.encoder.latent(path[:50])
    )
    np.testing.assert_array_equal(
        tokenizer.encoder.latent(strided), tokenizer.encoder.latent(path[:50])
    )


def test_numpy_and_torch_find_the_same_tokens(random_model, tmp_path, windows):
    torch = pytest.importorskip("torch")
    from vq_memory_node.networks import encoder_of
    from vq_memory_node.quantisers import nearest

    torch.set_num_threads(1)
    model = load_model(random_model(tmp_path, 1))
    tokenizer = VqTokenizer(model, 32)
    normaliser = [model.arrays[f"normaliser.{name}"] for name in ("mean", "std")]
    normalised = (np.stack(windows) - normaliser[0]) / normaliser[1]
    with torch.no_grad():
        latent = encoder_of(model)(torch.from_numpy(normalised).transpose(1, 2))
        codes = nearest(latent, torch.from_numpy(model.arrays["codebook"].copy()))
    ours = [tokenizer.code(window) for window in windows]
    assert ours == codes.tolist()
    assert len(set(ours)) > 5
    assert [tokenizer.token(w) for w in windows] == model.clusters(32)[codes.numpy()].tolist()


def test_wrong_windows_and_clusterings_are_refused(model_dir):
    tokenizer = load_tokenizer(model_dir)
    with pytest.raises(RuleSafeError, match=r"\(49, 13\).*\(50, 13\)"):
        tokenizer.token(np.zeros((49, 13), np.float32))
    with pytest.raises(RuleSafeError, match="clusters 5; valid: 2, 4, 32, 256"):
        load_tokenizer(model_dir, 5)


def test_the_tokenizer_needs_no_torch(model_dir, tmp_path):
    import subprocess
    import sys

    code = (
        "import sys\n"
        "sys.modules['torch'] = sys.modules['sklearn'] = sys.modules['tensorboardX'] = None\n"
        "import numpy as np\n"
        "from vq_memory_node.tokenizers import load_tokenizer\n"
        f"print(load_tokenizer({str(model_dir)!r}).token(np.zeros((50, 13), np.float32)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) in range(4)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("rvq", "unknown kind of memory model 'rvq'; valid: vq, module:NAME"),
        (
            "os:system",
            "the kind 'os:system' of a memory model is .*; valid: a subclass of",
        ),
    ],
)
def test_a_model_of_another_kind_is_refused(kind, message, random_model, tmp_path):
    random_model(tmp_path, 1, Architecture(kind))
    with pytest.raises(RuleSafeError, match=message):
        load_tokenizer(tmp_path)
