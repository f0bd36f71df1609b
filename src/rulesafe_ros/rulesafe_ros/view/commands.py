"""The command `rulesafe view`, which imports its dependencies when it runs."""


def view(
    host: str = "127.0.0.1",
    port: int = 8080,
    token: str = "",
    cameras: str = "",
) -> int:
    """Show a running graph in the browser: cameras, robot and safe, memory tokens, plan, joints.

    The view subscribes to ROS topics, so it works with the simulation, a played bag and a real
    robot. It can be started before them and continues after they end.

    Example: rulesafe view --port 8080

    Args:
        host: Address to listen on. An address other than loopback makes the page available to
            everyone on the network; its buttons then require the token.
        port: TCP port of the page; 0: any free port.
        token: Token for the buttons if the page is available on the network; empty: a random token
            is generated and printed.
        cameras: YAML file of the cameras (docs/interface.md); empty: head and front. Images are
            those of /film/CAMERA/compressed if it is published, else of /camera/CAMERA/image_raw.
    """
    from rulesafe_ros.view.options import ViewOptions
    from rulesafe_ros.view.serving import serve

    return serve(ViewOptions(host, port, token, cameras))
