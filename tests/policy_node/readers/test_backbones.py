"""Pretrained backbones: loaded in their published layouts, recreated without the files."""

import json
from dataclasses import asdict, replace

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from tokenizers import Tokenizer

from policy_node.backbones import KINDS, make_backbone
from policy_node.cogact import CogAct
from policy_node.configs import Dp3Config
from policy_node.configs_vla import COGACT_SIZES, PI0_SIZES, RDT_SIZES, Backbone, from_weights
from policy_node.language import SHIPPED
from policy_node.pi0 import Pi0
from policy_node.rdt import Rdt
from policy_node.tracing import TracedSampler
from policy_node.vision import make_vision_encoder
from rulesafe_core.errors import RuleSafeError
from vq_memory_node.memory import MemoryShape

ROTARY = {
    "vocab_size": 600,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 1,
    "head_dim": 8,
}
EYE = {
    "hidden_size": 24,
    "intermediate_size": 32,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "patch_size": 14,
    "image_size": 28,
}


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """Return folders of small random models in the layouts of the published models."""
    root = tmp_path_factory.mktemp("published")
    torch.manual_seed(1)
    t = transformers
    words = {"vocab_size": 600, "hidden_size": 16, "num_attention_heads": 2}
    pali = t.PaliGemmaConfig(
        vision_config={"model_type": "siglip_vision_model", "vision_use_head": False, **EYE},
        text_config={"model_type": "gemma", **ROTARY},
        projection_dim=32,
        image_token_index=599,
    )
    models = {
        "t5": t.T5ForConditionalGeneration(
            t.T5Config(vocab_size=600, d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4)
        ),
        "siglip": t.SiglipModel(t.SiglipConfig(text_config=words, vision_config=EYE)),
        "llama": t.LlamaForCausalLM(t.LlamaConfig(**ROTARY)),
        "dino": t.Dinov2WithRegistersModel(
            t.Dinov2WithRegistersConfig(
                hidden_size=24, num_hidden_layers=1, num_attention_heads=2, patch_size=14
            )
        ),
        "paligemma": t.PaliGemmaForConditionalGeneration(pali),
    }
    pieces = t.PreTrainedTokenizerFast(tokenizer_object=Tokenizer.from_file(str(SHIPPED)))
    for name, model in models.items():
        model.save_pretrained(root / name)
        if name in ("t5", "llama", "paligemma"):
            pieces.save_pretrained(root / name)
    # DINOv2 uses 224 pixels, so that SigLIP must too: both need the same number of patches.
    wide = t.SiglipVisionModel(t.SiglipVisionConfig(**EYE | {"image_size": 224}))
    wide.save_pretrained(root / "siglip_224")
    return root, models


def starting_from(published, family):
    root, _ = published
    folders = {
        "rdt": (Rdt, RDT_SIZES, "t5", ["siglip"]),
        "cogact": (CogAct, COGACT_SIZES, "llama", ["dino", "siglip_224"]),
        "pi0": (Pi0, PI0_SIZES, "paligemma", []),
    }
    kind, sizes, language, eyes = folders[family]
    config = from_weights(sizes["base"], [str(root / name) for name in (language, *eyes)])
    small = (
        {"width": 32, "depth": 2, "heads": 2} if family != "pi0" else {"width": 16, "hidden": 24}
    )
    return kind, replace(config, **small)


@pytest.mark.parametrize("family", ["rdt", "cogact", "pi0"])
def test_a_base_policy_starts_from_weights_and_is_made_again_without_them(
    published, family, shapes, read_batch, monkeypatch
):
    kind, config = starting_from(published, family)
    torch.manual_seed(0)
    network = kind(config, shapes["tokens"])
    batch = read_batch(network, shapes["tokens"])
    network.loss(batch).backward()
    learned = {name for name, value in network.named_parameters() if value.grad is not None}
    frozen = family == "rdt"  # whose language model and vision encoder are frozen
    parts = ("language.", "vision.encoders.") if frozen else ("model.text.",)
    assert any(name.startswith(parts) for name in learned) is not frozen
    assert ("tokens.tail" in learned) is frozen
    with torch.no_grad():
        usual = network.sample(batch, torch.Generator().manual_seed(0))
    assert usual.shape == (2, 50, 13) and usual.isfinite().all()

    # As in a checkpoint: JSON values, without files of weights.
    stored = json.loads(json.dumps(asdict(network.built(config))))
    again = type(config)(**stored)
    assert not again.language.weights and not any(eye.weights for eye in again.vision)
    with monkeypatch.context() as without:
        without.setattr(transformers.PreTrainedModel, "from_pretrained", None)
        restored = kind(again, shapes["tokens"])
    restored.load_state_dict(network.state_dict())
    batch.actions = None
    traced = TracedSampler(restored.eval().requires_grad_(False))
    with torch.inference_mode():
        assert torch.equal(restored.sample(batch, torch.Generator().manual_seed(0)), usual)
        assert torch.equal(traced(batch, torch.Generator().manual_seed(0)), usual)


def test_weights_are_those_of_the_files(published):
    root, models = published
    pairs = [
        ("t5", "t5", models["t5"].encoder),
        ("siglip_vision_model", "siglip", models["siglip"].vision_model),
        ("llama", "llama", models["llama"].model),
        ("dinov2_with_registers", "dino", models["dino"]),
        ("paligemma", "paligemma", models["paligemma"].model),
    ]
    for kind, folder, source in pairs:
        model = make_backbone(Backbone(kind, weights=str(root / folder), trained=False))
        found = dict(model.named_parameters())
        named = {**found, **{name.removeprefix("encoder."): v for name, v in found.items()}}
        same = [
            torch.equal(v, named[name]) for name, v in source.named_parameters() if name in named
        ]
        assert len(same) >= 8 and all(same), kind
        assert not any(value.requires_grad for value in model.parameters())


def test_the_features_of_a_picture_are_those_of_the_library(published):
    root, models = published
    pictures = torch.rand(2, 3, 28, 28)
    tower = make_vision_encoder(Backbone("siglip_vision_model", weights=str(root / "siglip")))
    with torch.no_grad():
        expected = models["siglip"].eval().vision_model(2 * pictures - 1).last_hidden_state
        torch.testing.assert_close(tower(pictures), expected)


def test_what_cannot_be_loaded_is_refused_with_the_reason(published, tmp_path):
    root, _ = published
    with pytest.raises(RuleSafeError, match="cannot load weights of t5 from"):
        make_backbone(Backbone("t5", weights=str(tmp_path)))
    with pytest.raises(RuleSafeError, match="unknown backbone 'bert'; valid: t5, gemma"):
        make_backbone(Backbone("bert"))
    for kind, folder in (("t5", "llama"), ("dinov2_with_registers", "siglip")):
        with pytest.raises(RuleSafeError, match=r"is not a complete |cannot load weights of"):
            make_backbone(Backbone(kind, weights=str(root / folder)))
    with pytest.raises(RuleSafeError, match="has no vision encoder"):
        Pi0(replace(PI0_SIZES["tiny"], encoder=None), MemoryShape())
    with pytest.raises(RuleSafeError, match="requires gemma or paligemma, not llama"):
        language = COGACT_SIZES["tiny"].language
        Pi0(replace(PI0_SIZES["tiny"], language=language), MemoryShape())


def test_as_many_weights_as_there_are_parts_to_load():
    with pytest.raises(RuleSafeError, match=r"0 weights .*: t5, siglip_vision_model$"):
        from_weights(RDT_SIZES["base"], [])
    with pytest.raises(RuleSafeError, match=r"2 weights .*: paligemma"):
        from_weights(PI0_SIZES["base"], ["a", "b"])
    for config in (RDT_SIZES["tiny"], Dp3Config()):
        assert from_weights(config, []) == config
        with pytest.raises(RuleSafeError, match="it is trained from random weights"):
            from_weights(config, ["a"])


def count(part):
    return sum(value.numel() for value in part.parameters())


def test_base_networks_have_the_published_sizes():
    with torch.device("meta"):  # allocates no memory
        rdt = Rdt(RDT_SIZES["base"], MemoryShape()).parts()
        cogact = CogAct(COGACT_SIZES["base"], MemoryShape()).parts()
        pi0 = Pi0(PI0_SIZES["base"], MemoryShape()).parts()
    assert count(rdt["diffusion transformer"]) == pytest.approx(1.2e9, rel=0.02)
    assert count(rdt["language"]) == pytest.approx(4.76e9, rel=0.01)
    assert count(cogact["diffusion transformer"]) == pytest.approx(89e6, rel=0.01)
    assert count(cogact["language"]) == pytest.approx(6.6e9, rel=0.01)
    assert count(pi0["language"]) + count(pi0["vision"]) == pytest.approx(2.92e9, rel=0.01)
    assert count(pi0["action expert"]) == pytest.approx(311e6, rel=0.01)


def test_every_kind_is_a_class_of_the_library():
    for name in KINDS.values():
        assert issubclass(getattr(transformers, name), transformers.PreTrainedModel)
