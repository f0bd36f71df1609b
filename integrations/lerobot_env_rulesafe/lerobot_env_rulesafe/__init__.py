"""Plugin of LeRobot: importing it registers `--env.type=rulesafe` (docs/integrations.md)."""

from lerobot_env_rulesafe import config, env  # noqa: F401
