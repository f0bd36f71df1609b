"""Bags as rosbag2 writes them: directories of MCAP files and a metadata.yaml. No ROS here.

`writing` writes them, `reading` reads them (those of `ros2 bag record` too), `mending` gives a bag
whose writer was killed its index and its metadata.yaml, `decoding` makes plain objects of messages.
"""

from rulesafe_core.errors import RuleSafeError

try:
    import mcap
    import rosbags
except ImportError as error:
    raise RuleSafeError(
        f"bags need a package that is not installed ({error}): pip install 'rulesafe[bags]'"
    ) from None

__all__ = ["mcap", "rosbags"]
