"""Language models and vision encoders of transformers, with random or pretrained weights.

Published weights are loaded in their published layout (a causal language model, a complete SigLIP);
only the required part is used. Nothing is downloaded unless the configuration allows it. Requires
transformers 5: before, Gemma scaled all input embeddings instead of those of its tokens only.
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
"""The transformers class of each kind."""

NO_DROPOUT = {"t5": {"dropout_rate": 0.0}}
"""Settings that disable dropout, so that the output depends on the input only."""


def make_backbone(backbone: Backbone) -> Any:
    """Return the model of a backbone, without dropout, in float32.

    Raises:
        RuleSafeError: the kind is unknown, or the weights are missing or belong to another kind.
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
    """Return the backbone that creates the same model with random weights, without any files."""
    if not backbone.weights:
        return backbone
    return replace(backbone, sizes=model.config.to_dict(), weights="", download=False)


def _loaded(kind: Any, backbone: Backbone) -> Any:
    try:
        model, info = kind.from_pretrained(
            backbone.weights,
            local_files_only=not backbone.download,
            output_loading_info=True,
            **NO_DROPOUT.get(backbone.kind, {}),
        )
    except (OSError, ValueError, RuntimeError) as error:
        raise RuleSafeError(
            f"cannot load weights of {backbone.kind} from {backbone.weights}: {error}"
        ) from error
    if info["missing_keys"] or info["mismatched_keys"]:
        missing = sorted(map(str, (*info["missing_keys"], *info["mismatched_keys"])))
        raise RuleSafeError(
            f"{backbone.weights} is not a complete {backbone.kind} model: {len(missing)} arrays "
            f"are missing or have another shape, such as {missing[0]}"
        )
    return model
