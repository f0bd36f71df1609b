"""Write a screenshot of the live view in the sixth step of rule_020, docs/images/view.jpg.

    python scripts/view_figure.py docs/images/view.jpg

It starts launch/view.launch.xml in a reserved ROS domain and opens the page in Chromium, which
`scripts/setup.sh tests` installs.
"""

import io
import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from PIL import Image
from playwright.sync_api import Error, sync_playwright

from rulesafe_core.domains import reserve_domain

LAUNCH = Path(__file__).parents[1] / "launch/view.launch.xml"
SIZE = {"width": 1600, "height": 900}
TIMEOUT = 300_000  # ms
RETRY = 500  # ms
WEBGL = ("--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")
STEPS_DONE = 5
DONE = "count => document.querySelectorAll('#plan .done').length >= count"


def screenshot(address: str) -> bytes:
    """Return a PNG of the page when STEPS_DONE steps of the plan are done."""
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path="/usr/bin/chromium", args=list(WEBGL))
        page = browser.new_page(viewport=SIZE)  # type: ignore[arg-type]
        page.set_default_timeout(TIMEOUT)
        for _ in range(TIMEOUT // RETRY):
            with suppress(Error):  # the server is not ready yet
                page.goto(address)
                break
            page.wait_for_timeout(RETRY)
        page.wait_for_function(DONE, arg=STEPS_DONE)
        page.wait_for_timeout(4000)  # within the sixth step, at the knob
        png: bytes = page.screenshot()
        browser.close()
    return png


def main() -> None:
    (path,) = sys.argv[1:]
    os.environ["ROS_DOMAIN_ID"] = str(reserve_domain())
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    arguments = ("rule:=rule_020", "safe:=safe_05", f"port:={port}")
    view = subprocess.Popen(["rulesafe", "launch", str(LAUNCH), *arguments])
    try:
        image = Image.open(io.BytesIO(screenshot(f"http://127.0.0.1:{port}")))
    finally:
        view.send_signal(signal.SIGINT)
        view.wait()
    image.convert("RGB").save(path, quality=85)


if __name__ == "__main__":
    main()
