"""Tests of the page in a browser: an episode is shown, controlled and interrupted."""

import asyncio
import signal
import threading
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("aiohttp", reason="aiohttp is not installed")
pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from aiohttp import web
from playwright.sync_api import expect

from rulesafe_locks.rules import load_rule
from rulesafe_ros.view.board import Board
from rulesafe_ros.view.guard import RequestGuard
from rulesafe_ros.view.model import choices
from rulesafe_ros.view.web import Commands, Page

PATIENCE = 90_000  # ms
expect.set_options(timeout=PATIENCE)

PICTURE = "name => document.getElementById(name).toDataURL()"
CANVAS = "document.querySelector('#scene canvas')"
DIFFERENT = "([name, before]) => document.getElementById(name).toDataURL() !== before"


@pytest.fixture
def page(browser):
    """A page; `errors` collects its console errors except those of rejected commands."""
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.set_default_timeout(PATIENCE)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))

    def note(message) -> None:
        if (
            message.type == "error"
            and "the server responded with a status of 4" not in message.text
        ):
            errors.append(message.text)

    page.on("console", note)
    page.errors = errors
    yield page
    page.close()


def state(page):
    return page.locator("#state")


def expect_state(page, name: str) -> None:
    expect(state(page)).to_have_attribute("data-state", name)


def colours_in_scene(page) -> int:
    """Return the number of colours in the 3D view, in a coarse palette."""
    import io

    from PIL import Image

    shot = Image.open(io.BytesIO(page.locator("#scene").screenshot())).convert("RGB")
    return len(np.unique(np.asarray(shot).reshape(-1, 3) // 16, axis=0))


def wave(client) -> None:
    """Move the elbow and the hand for five seconds."""
    from rulesafe_sim.simulation import HOME_ACTION

    status = client.wait_for_turn()
    rows = np.tile(HOME_ACTION, (50, 1))
    rows[:, 3] += np.linspace(0, 0.8, 50)
    rows[:, 9] += 0.4
    client.send(rows, client.now)
    episode = status.episode
    client.until(lambda: client.status.episode != episode or client.status.frame >= 50, "5 s")


@pytest.mark.ros
def test_an_episode_on_the_page(run, client, page, tmp_path):
    """The view starts before the simulation; the page shows motion, pauses, resets, and continues
    after the end of the simulation."""
    view = run("rulesafe_cli.cli", "view", "--port", "0")
    address = view.says(r"Live view: (http://\S+)").group(1)
    page.goto(address)
    expect_state(page, "silent")
    expect(page.locator("#reset")).to_be_disabled()

    simulation = start_simulation(run, "rule_001", "safe_01")
    run("vq_memory_node.node")
    expect_state(page, "waiting")
    expect(page.locator("#instruction")).to_have_text(load_rule("rule_001").description)
    expect(page.locator("#plan li")).to_have_count(3)
    expect(page.locator("#plan li.next")).to_have_text("open knob")
    expect(page.locator("#scene-note")).to_be_hidden()

    expect(page.locator("#tokens b.seen")).to_have_count(1)  # of frame 0

    before = {name: page.evaluate(PICTURE, name) for name in ("head_image", "front_image")}
    wave(client)
    for name, picture in before.items():  # the cameras' images change
        page.wait_for_function(DIFFERENT, arg=[name, picture])
    expect(page.locator("#fact-time")).to_have_text("5.0 s")
    expect(page.locator("#tokens b.seen")).to_have_count(3)  # of the frames 0, 20 and 40
    page.wait_for_function(f"Number({CANVAS}.dataset.drawings) > 3")
    assert colours_in_scene(page) > 20
    elbow = "document.querySelector('#arm-legend button:nth-child(4) output')"
    page.wait_for_function(f"Number({elbow}.textContent) > 0.5")

    page.click("#pause")
    expect_state(page, "paused")
    moment = client.wait_for_turn().frame
    client.send(np.zeros((5, 13)), client.now)
    client.statuses.clear()
    client.until(lambda: len(client.statuses) >= 10, "statuses in the pause")
    assert {status.frame for status in client.statuses} == {moment}
    page.click("#pause")
    client.until(lambda: client.status.frame == moment + 5, "time continues")
    expect_state(page, "waiting")

    page.select_option("#rule", "rule_003")
    page.select_option("#safe", "safe_05")
    page.fill("#seed", "7")
    page.click("#reset")
    expect(page.locator("#fact-rule")).to_have_text("rule_003")
    expect(page.locator("#fact-safe")).to_have_text("safe_05")
    expect(page.locator("#fact-seed")).to_have_text("7")
    expect(page.locator("#answer")).to_have_text("rule_003 on safe_05, seed 7")
    expect(page.locator("#fact-time")).to_have_text("0.0 s")
    client.until(lambda: client.status.rule == "rule_003", "the reset")
    page.select_option("#rule", "custom ...")
    page.fill("#other", "rule_999")
    page.click("#reset")
    expect(page.locator("#answer.bad")).to_contain_text("rule_020")  # the valid IDs are listed

    simulation.stop(signal.SIGKILL)
    expect_state(page, "silent")
    start_simulation(run, "rule_020", "safe_02")
    expect(page.locator("#fact-rule")).to_have_text("rule_020")
    expect(page.locator("#plan li")).to_have_count(8)
    client.until(lambda: client.status.rule == "rule_020", "the new simulation")
    picture = page.evaluate(PICTURE, "head_image")
    wave(client)
    page.wait_for_function(DIFFERENT, arg=["head_image", picture])
    page.screenshot(path=tmp_path / "page.png")
    assert page.errors == []
    assert view.stop(signal.SIGINT) == 0, view.output
    expect_state(page, "offline")
    port = address.rstrip("/").rsplit(":")[-1]
    run("rulesafe_cli.cli", "view", "--port", port)
    expect_state(page, "waiting")  # the page reconnects


def start_simulation(run, rule: str, safe: str):
    parameters = (f"rule:={rule}", f"safe:={safe}", "cameras:=true")
    return run("rulesafe_sim.node", "--ros-args", *(word for p in parameters for word in ("-p", p)))


# Without a graph ------------------------------------------------------------------------------


@contextmanager
def served(guard: RequestGuard, commands: list):
    """Serve the page in a thread; yield its board and address."""
    board, loop = Board(), asyncio.new_event_loop()

    async def note(*what):
        commands.append(what)
        return True, "done"

    async def start() -> web.AppRunner:
        runner = web.AppRunner(Page(board, guard, Commands(note, note)).app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        return runner

    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    runner = asyncio.run_coroutine_threadsafe(start(), loop).result(60)
    try:
        yield board, f"http://127.0.0.1:{runner.addresses[0][1]}/"
    finally:  # also after a failed test, since the thread would keep pytest from ending
        asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result(60)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()


def test_an_exposed_page_requests_the_token_or_reads_it_from_its_address(page):
    commands: list = []
    with served(RequestGuard(exposed=True, token="sesame"), commands) as (board, address):
        board.put("setup", choices(exposed=True))
        board.put("graph", {"alive": True, "reset": True, "pause": True})
        page.goto(address)
        page.select_option("#rule", "rule_002")
        page.click("#reset")
        page.fill("#token", "wrong")
        page.click("#token-dialog button[value=ok]")
        expect(page.locator("#token-dialog")).to_be_visible()  # the token is requested again
        page.fill("#token", "sesame")
        page.click("#token-dialog button[value=ok]")
        expect(page.locator("#answer")).to_have_text("done")
        assert commands == [("rule_002", "safe_01", 0)]
        page.evaluate("sessionStorage.clear()")
        page.goto("about:blank")
        page.goto(f"{address}#token=sesame")
        expect(page.locator("#pause")).to_be_enabled()
        assert "sesame" not in page.url  # the token is removed from the address bar
        page.click("#pause")
        expect(page.locator("#answer")).to_have_text("done")
        assert commands[1:] == [(True,)]
        assert page.errors == []


PLAN = ["handle+", "knob+", "handle-", "knob-"] * 2
STATUS = {
    **{"rule": "rule_020", "safe": "safe_02", "seed": 1, "episode": 1, "success": False},
    **{"plan": [*PLAN[:7], "door+"], "done": 4, "waiting": True, "contacts": {"knob": 12.0}},
    "remaining": ["knob-", *PLAN[4:7], "door+"],  # differs from the plan: shown in two lines
    "parts": [
        {"name": name, "position": 0.7, "open": True, "locked": False}
        for name in ("knob", "handle", "door")
    ],
    **{"safe_position": [0.6, 0.0, 0.3], "safe_quat_xyzw": [0.0, 0.0, 0.0, 1.0]},
}

IN_SIGHT = """() => {
  const [part, panel] = ["parts", "lock"].map((id) => document.getElementById(id));
  const [low, edge] = [part, panel].map((element) => element.getBoundingClientRect().bottom);
  return part.children.length > 0 && low <= edge && edge <= innerHeight;
}"""


@pytest.mark.parametrize("size", [(1456, 820), (1280, 720)])
def test_the_longest_rule_fits_into_a_window(page, size):
    page.set_viewport_size({"width": size[0], "height": size[1]})
    with served(RequestGuard(exposed=False, token=""), []) as (board, address):
        board.put("setup", choices(exposed=False))
        board.put("graph", {"alive": True, "reset": True, "pause": True})
        board.put("instruction", load_rule("rule_020").description)
        board.put("joints", {"time": 123.4, "positions": {}})
        board.put("status", STATUS)
        page.goto(address)
        expect(page.locator("#parts .bar")).to_have_count(3)
        expect(page.locator("#remaining")).to_contain_text("shortest plan")
        assert page.evaluate(IN_SIGHT)
        expect(page.locator("#idle")).to_be_hidden()
        assert page.errors == []


def test_a_page_without_a_graph_shows_how_to_start_one(page):
    """Also after a simulation has ended; not before the graph's state is known."""
    with served(RequestGuard(exposed=False, token=""), []) as (board, address):
        page.goto(address)
        expect(state(page)).to_have_text("connecting")
        expect(page.locator("#idle")).to_be_hidden()
        for alive in (False, True, False):
            board.put("graph", {"alive": alive, "reset": alive, "pause": alive})
            expect(page.locator("#idle")).to_be_visible(visible=not alive)
        command = page.locator("#start").text_content()
        assert command == "rulesafe launch launch/sim_evaluation.launch.xml"
        assert Path(__file__).parents[3].joinpath(command.split()[-1]).is_file()
        assert page.errors == []


def test_the_panel_of_teleoperation_is_shown_while_there_is_one(page):
    with served(RequestGuard(exposed=False, token=""), []) as (board, address):
        page.goto(address)
        panel = page.locator("#teleoperation")
        expect(panel).to_be_hidden()
        board.put("teleoperation", {"status": "following", "keys": "space close or open"})
        expect(panel).to_contain_text("following")
        expect(panel.locator("#keys")).to_have_text("space close or open")
        board.put("teleoperation", None)
        expect(panel).to_be_hidden()
        assert page.errors == []


def test_text_from_the_graph_is_escaped(page):
    """The text of an instruction must not run scripts in the page."""
    with served(RequestGuard(exposed=False, token=""), []) as (board, address):
        evil = "<img src=x onerror=\"document.title='taken'\">"
        board.put("instruction", evil)
        board.put("notices", [{"name": evil, "level": "error", "text": evil}])
        page.goto(address)
        expect(page.locator("#instruction")).to_have_text(evil)
        expect(page.locator("#notices li")).to_have_text(f"{evil}: {evil}")
        assert page.title() == "RuleSafe live view" and page.errors == []
