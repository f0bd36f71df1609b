"""Images of bodies: a deterministic renderer on the CPU."""
