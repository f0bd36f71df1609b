"""The renderers of the images and point clouds that policies were trained on."""

from policy_node.checkpoints import Checkpoint
from policy_node.configs import EncoderConfig
from rulesafe_core.versions import EARLIER, renderer_version


def renderers_of(checkpoint: Checkpoint) -> tuple[str, ...]:
    """Return the renderers, with their versions, of the images and point clouds on which the
    networks of a policy were trained: that of its pretrained scene encoder, and that of its dataset
    if a network of its own receives them. Empty if there is none, or if it is not known."""
    config = checkpoint.config
    encoder = getattr(getattr(config, "skills", config), "encoder", None)
    found, points, images = [], bool(config.points), config.images
    if isinstance(encoder, EncoderConfig):
        found.append(str(encoder.renderer))
        points, images = points and bool(encoder.image_size), images and not encoder.image_size
    if points or images:
        found.append(str(checkpoint.data.get("versions", EARLIER).get("renderer", "")))
    return tuple(name for name in dict.fromkeys(found) if name)


def other_renderer(checkpoint: Checkpoint) -> str:
    """Return a warning if a policy was trained on images or point clouds of another renderer, or of
    another version of it, than that of its cameras; else an empty text. A policy that was trained
    on this renderer's, behind a pretrained encoder of another one, has adapted to that encoder."""
    here = renderer_version(checkpoint.cameras.renderer)
    others = [name for name in renderers_of(checkpoint) if name != here]
    adapted = not checkpoint.base and checkpoint.data.get("versions", {}).get("renderer") == here
    if adapted or not others:
        return ""
    return (
        f"trained on images or point clouds of {', '.join(others)}, and this software has "
        f"{here}: the success rate can differ. Train the policy again, or exchange its scene "
        "encoder (rulesafe policy exchange)"
    )
