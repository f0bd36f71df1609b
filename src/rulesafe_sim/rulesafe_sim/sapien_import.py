"""SAPIEN, imported without its warning that the system has no Vulkan. Only `renderer: sapien` needs
Vulkan, and raises an error without it."""

import warnings

with warnings.catch_warnings():
    warnings.filterwarnings("ignore", "Failed to find system libvulkan")
    import sapien
    from sapien.wrapper.actor_builder import ActorBuilder
    from sapien.wrapper.articulation_builder import ArticulationBuilder, LinkBuilder

__all__ = ["ActorBuilder", "ArticulationBuilder", "LinkBuilder", "sapien"]
