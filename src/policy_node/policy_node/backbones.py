"""Language models and vision encoders of the library transformers: made, or loaded.

Published weights load in the layouts they are published in (a causal language model, a complete
SigLIP), of which only the needed part is used. Nothing is fetched unless the configuration says so.
Transformers 5 or later: before, Gemma scaled all embeddings, not only those of tokens.
"""

from dataclasses import replace
from importlib import import_module
from typing import Any

from policy_node.configs_vla import Backbone
from rulesafe_core.errors import RuleSafeError, unknown_name

KINDS = {
    "t5": "T5EncoderModel",
    "gemma": "GemmaModel",
    "llama": "LlamaModel",
    "paligemma": "PaliGemmaModel",
    "siglip_vision_model": "SiglipVisionModel",
    "dinov2_with_registers": "Dinov2WithRegistersModel",
}
"""The class of each kind, in transformers."""

NO_DROPOUT = {"t5": {"dropout_rate": 0.0}}
"""Settings that switch dropout off, so that the output depends on the input only."""


def make_backbone(backbone: Backbone) -> Any:
    """Return the model, without dropout, in float32; its weights random, or those of the settings.

    Errors: RuleSafeError for an unknown kind, missing weights, or weights of another kind.
    """
    if backbone.kind not in KINDS:
        raise unknown_name("backbone", backbone.kind, KINDS)
    kind = getattr(import_module("transformers"), KINDS[backbone.kind])
    if backbone.weights:
        model = _loaded(kind, backbone)
    else:
        model = kind(kind.config_class(**backbone.sizes | NO_DROPOUT.get(backbone.kind, {})))
    return model.float().requires_grad_(backbone.trained)


def resolved(backbone: Backbone, model: Any) -> Backbone:
    """Return settings for the same model with random weights, without the files of `weights`."""
    if not backbone.weights:
        return backbone
    return replace(backbone, sizes=model.config.to_dict(), weights="", download=False)


def _loaded(kind: Any, backbone: Backbone) -> Any:
    try:
        model, told = kind.from_pretrained(
            backbone.weights,
            local_files_only=not backbone.download,
            output_loading_info=True,
            **NO_DROPOUT.get(backbone.kind, {}),
        )
    except (OSError, ValueError, RuntimeError) as error:
        raise RuleSafeError(
            f"no weights of {backbone.kind} in {backbone.weights}: {error}"
        ) from error
    if told["missing_keys"] or told["mismatched_keys"]:
        missing = sorted(map(str, (*told["missing_keys"], *told["mismatched_keys"])))
        raise RuleSafeError(
            f"{backbone.weights} is no {backbone.kind}, or is not complete: {len(missing)} arrays "
            f"are missing or of another shape, such as {missing[0]}"
        )
    return model
