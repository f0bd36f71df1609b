"""The command `rulesafe view`. What it needs is imported when it runs."""

from typing import Literal


def view(
    host: str = "127.0.0.1",
    port: int = 8080,
    foxglove_port: int | Literal["None"] = 8765,
    token: str = "",
    head_image: str = "",
    front_image: str = "",
) -> int:
    """Show a running graph live: cameras, robot and safe, memory tokens, the plan, joints.

    It subscribes to the ROS topics, so it shows the simulation, a played bag and the real robot
    alike. It may be started before them and keeps running after them.

    Example: rulesafe view --port 8080

    Args:
        host: Address to bind to. Any but loopback exposes the page to the network: all users of it
            can open the page then, and the buttons ask for the token.
        port: The page's port; 0: any free port.
        foxglove_port: Port of the Foxglove WebSocket server; 0: any free port; None: no server.
        token: Token of the buttons where the page is exposed; empty: a new one, which is printed.
        head_image: Image topic of the head camera; empty: /film/head/compressed if it is
            published, else /camera/head/image_raw.
        front_image: The same of the front camera.
    """
    from rulesafe_ros.view.options import ViewOptions
    from rulesafe_ros.view.serving import serve

    foxglove = None if foxglove_port == "None" else foxglove_port
    return serve(ViewOptions(host, port, foxglove, token, head_image, front_image))
