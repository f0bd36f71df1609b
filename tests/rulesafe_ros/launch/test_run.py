"""Tests of launches with real processes: output, exit codes, signals, cleanup."""

import os
import signal
import time
from pathlib import Path

import pytest
from waiting import wait_for

# Writes its process ID to a file named after its first argument, then behaves as its second says.
WORKER = """
import os, pathlib, signal, subprocess, sys, time
here = pathlib.Path(__file__).parent
name, behaviour = sys.argv[1], sys.argv[2]
if "no_int" in behaviour:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
if "no_term" in behaviour:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if "no_hup" in behaviour:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
if "parent" in behaviour:
    subprocess.Popen([sys.executable, __file__, name + "_child", "no_int no_term wait"])
    while not (here / (name + "_child.pid")).exists():
        time.sleep(0.02)
part = here / (name + ".part")
part.write_text(str(os.getpid()))
try:
    print("hello from", name)
    print("trouble from", name, file=sys.stderr)
    part.rename(here / (name + ".pid"))
    time.sleep(300 if "wait" in behaviour else 0)
except KeyboardInterrupt:
    print("interrupted", name)
    sys.exit(5 if "exit5" in behaviour else 130 if "130" in behaviour else 0)
if "crash" in behaviour:
    os.kill(os.getpid(), signal.SIGSEGV)
sys.exit(int(behaviour.split()[-1]))
"""


@pytest.fixture
def worker(bench):
    """worker(name, behaviour) -> the <node> element of a worker process."""

    def element(name, behaviour, attributes="", output="screen"):
        command = bench.script(WORKER, arguments=f"{name} '{behaviour}'")
        return f'<node exec_name="{name}" {command} output="{output}" {attributes}/>'

    return element


def test_output_is_labelled(bench, worker):
    status, output = bench.run(worker("a", "0") + worker("b", "0", output="log"))
    lines = output.splitlines()
    assert status == 0
    assert {"[a-1] hello from a", "[a-1] trouble from a", "[b-2] trouble from b"} <= set(lines)
    assert not any("hello from b" in line for line in lines)
    (log,) = bench.directory.glob("log/*/launch.log")
    assert "[b-2] hello from b" in log.read_text()
    (pid,) = bench.marks("a.pid", 1)
    assert f"[INFO] [a-1]: process started with pid [{pid}]" in lines
    assert f"[INFO] [a-1]: process has finished cleanly [pid {pid}]" in lines


def test_output_without_a_final_newline_and_in_long_lines_arrives(bench):
    bench.environment["PYTHONUNBUFFERED"] = "1"
    command = bench.script("print('x' * 300_000); print('end', end='')")
    _, output = bench.run(f'<node exec_name="a" {command} output="screen"/>')
    assert "[a-1] " + "x" * 300_000 in output.splitlines()
    assert "[a-1] end" in output.splitlines()


def test_environment_of_the_processes(bench):
    bench.environment.pop("ROS_AUTOMATIC_DISCOVERY_RANGE", None)
    command = bench.script(
        "import os\nfor name in ('ROS_AUTOMATIC_DISCOVERY_RANGE', 'PYTHONUNBUFFERED', 'A', 'B'):"
        "\n    print(name, os.environ.get(name))"
    )
    _, output = bench.run(
        f"""<group><set_env name="A" value="1"/></group><set_env name="B" value="2"/>
        <node exec_name="x" {command} output="screen"/>"""
    )
    for line in ("ROS_AUTOMATIC_DISCOVERY_RANGE LOCALHOST", "PYTHONUNBUFFERED 1", "A None", "B 2"):
        assert f"[x-1] {line}" in output


def test_first_failure_is_the_exit_status(bench, worker):
    slow = bench.script(
        "import os, pathlib, time\n"
        "mark = pathlib.Path(__file__).with_name('bad.pid')\n"
        "while not mark.exists() or os.path.exists('/proc/' + mark.read_text()): time.sleep(0.05)\n"
        "time.sleep(1)  # until the launch has noticed the end\n"
        "raise SystemExit(4)\n",
        "slow.py",
    )
    status, output = bench.run(
        worker("good", "0") + worker("bad", "3") + f'<node exec_name="slow" {slow}/>'
    )
    assert status == 3
    assert "[ERROR] [bad-2]: process has ended with exit code 3 [pid" in output
    assert (
        "[ERROR] [slow-3]: process has ended with exit code 4 [pid" in output
    )  # the first failure did not end it
    last = output.splitlines()[-1]
    assert last == "[ERROR] [launch]: bad-2 failed first, with status 3: trouble from bad"


@pytest.mark.parametrize(
    ("behaviour", "expected"), [("0", 0), ("7", 7), ("crash", 128 + signal.SIGSEGV)]
)
def test_a_required_process_ends_the_launch_with_its_status(behaviour, expected, bench, worker):
    status, output = bench.run(
        worker("other", "exit5 wait") + worker("main", behaviour, 'on_exit="shutdown"')
    )
    assert status == expected
    assert "process[main-2] was required: shutting down launched system" in output
    assert "sending signal 'SIGINT' to process[other-1]" in output


def test_a_program_that_cannot_be_run_fails_the_launch(bench, worker):
    bad = bench.directory / "bad"
    bad.write_text("#!/no/such/interpreter\n")
    bad.chmod(0o755)
    status, output = bench.run(worker("a", "wait") + f'<node exec="{bad}" on_exit="shutdown"/>')
    assert status == 127
    assert "[ERROR] [bad-2]: cannot be started" in output
    assert "bad-2 failed first, with status 127: " in output.splitlines()[-1]


def test_a_shutdown_action_stops_the_launch(bench, worker):
    status, output = bench.run(
        worker("a", "exit5 wait") + '<shutdown reason="time is up"/>' + worker("b", "0")
    )
    assert status == 2
    assert "[INFO] [launch]: shutting down: time is up" in output
    assert "sending signal 'SIGINT' to process[a-1]" in output
    assert "[b-2]" not in output


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_signals_reach_the_processes_as_sigint(number, bench, worker, running):
    launcher = bench.start(str(bench.write(worker("a", "wait") + worker("b", "parent exit5 wait"))))
    pids = bench.marks("*.pid", 3)
    launcher.send_signal(number)
    output, _ = launcher.communicate(timeout=60)
    assert launcher.returncode == 128 + number
    assert "[a-1] interrupted a" in output
    wait_for(lambda: not any(running(pid) for pid in pids))


def test_a_process_that_ends_after_the_forwarded_interrupt_has_not_died(bench, worker):
    """As the evaluator, which exits with 130 if it is interrupted, or a program that does not catch
    the signal."""
    code = "import time; print('up', flush=True); time.sleep(300)"
    plain = bench.script(f"import signal; signal.signal(2, signal.SIG_DFL); {code}", "plain.py")
    evaluation = worker("evaluation", "code 130 wait")
    launcher = bench.start(
        str(bench.write(evaluation + f'<node exec_name="x" {plain} output="screen"/>'))
    )
    bench.marks("*.pid", 1)
    assert launcher.stdout is not None
    before = []
    while not any("[x-2] up" in line for line in before):
        before.append(launcher.stdout.readline())
    launcher.send_signal(signal.SIGINT)
    output, _ = launcher.communicate(timeout=60)
    assert "[INFO] [evaluation-1]: process has ended after SIGINT [pid" in output
    assert "[INFO] [x-2]: process has ended after SIGINT [pid" in output
    assert "[ERROR]" not in output
    assert launcher.returncode == 128 + signal.SIGINT


def test_130_without_an_interrupt_is_an_error(bench, worker):
    status, output = bench.run(worker("a", "130"))
    assert status == 130
    assert "[ERROR] [a-1]: process has died" in output


def test_processes_that_ignore_signals_are_killed_after_their_timeouts(bench, worker, running):
    path = bench.write(worker("no_int", "no_int wait") + worker("no_term", "no_int no_term wait"))
    launcher = bench.start(str(path), "sigterm_timeout:=0.5", "sigkill_timeout:=4")
    pids = bench.marks("*.pid", 2)
    launcher.send_signal(signal.SIGINT)
    output, _ = launcher.communicate(timeout=60)
    assert "process[no_int-1] has not ended 0.5 s after SIGINT, escalating to SIGTERM" in output
    assert "process[no_term-2] has not ended 4.5 s after SIGINT, escalating to SIGKILL" in output
    assert "process[no_int-1] has not ended 4.5 s" not in output
    assert "waiting for no_term-2; another Ctrl-C sends SIGTERM" in output
    assert not any(running(pid) for pid in pids)


def test_a_second_and_third_interrupt_do_not_wait(bench, worker, running):
    path = bench.write(worker("no_int", "no_int wait") + worker("no_term", "no_int no_term wait"))
    launcher = bench.start(str(path), "sigterm_timeout:=1000")
    no_int, no_term = bench.marks("*.pid", 2)
    launcher.send_signal(signal.SIGINT)
    lines = iter(launcher.stdout.readline, "")
    assert any("sending signal 'SIGINT' to process[no_term-2]" in line for line in lines)
    time.sleep(0.5)
    assert running(no_int) and running(no_term)
    launcher.send_signal(signal.SIGINT)
    wait_for(lambda: not running(no_int))
    assert running(no_term)
    launcher.send_signal(signal.SIGINT)
    launcher.communicate(timeout=60)
    assert launcher.returncode == 128 + signal.SIGINT
    assert not running(no_term)


def test_an_interrupt_after_the_launch_has_stopped_itself_sends_sigterm(bench, worker, running):
    main = worker("main", "wait", 'on_exit="shutdown"')
    launcher = bench.start(
        str(bench.write(main + worker("no_int", "no_int wait"))), "sigterm_timeout:=1000"
    )
    required, no_int = bench.marks("*.pid", 2)
    os.kill(required, signal.SIGKILL)
    lines = iter(launcher.stdout.readline, "")
    assert any("waiting for no_int-2; another Ctrl-C sends SIGTERM" in line for line in lines)
    assert running(no_int)
    launcher.send_signal(signal.SIGINT)
    wait_for(lambda: not running(no_int))
    launcher.communicate(timeout=60)


def test_a_process_without_time_limit_is_waited_for_after_any_number_of_interrupts(
    bench, worker, running
):
    """Also if only another process of its group remains."""
    limits = 'sigterm_timeout="0.1" sigkill_timeout="inf"'
    path = bench.write(
        worker("a", "no_int no_term wait", limits) + worker("b", "parent wait", limits)
    )
    launcher = bench.start(str(path), "sigkill_timeout:=0.1")
    leader, ended, child = bench.marks("*.pid", 3)
    for _ in range(5):
        launcher.send_signal(signal.SIGINT)
        time.sleep(0.3)
    wait_for(lambda: not running(ended))
    lines = iter(launcher.stdout.readline, "")
    while "waiting for a-1 (never killed), b-2 (never killed)\n" not in next(lines):
        pass
    assert running(leader) and running(child) and launcher.poll() is None
    os.kill(leader, signal.SIGKILL)
    while "waiting for b-2 (never killed)\n" not in next(lines):
        pass
    assert running(child)
    os.kill(child, signal.SIGKILL)
    launcher.communicate(timeout=60)
    assert launcher.returncode == 128 + signal.SIGINT


def test_the_second_signal_of_a_closed_terminal_does_not_escalate(bench, worker, running):
    launcher = bench.start(str(bench.write(worker("a", "no_int wait"))), "sigterm_timeout:=1000")
    (pid,) = bench.marks("*.pid", 1)
    for _ in range(3):
        launcher.send_signal(signal.SIGHUP)
        time.sleep(0.3)
    while "waiting for a-1; another Ctrl-C sends SIGTERM" not in launcher.stdout.readline():
        pass
    assert running(pid)
    launcher.send_signal(signal.SIGINT)
    launcher.communicate(timeout=60)
    assert launcher.returncode == 128 + signal.SIGHUP and not running(pid)


def test_remaining_processes_of_a_group_are_killed(bench, worker, running):
    status, _ = bench.run(worker("a", "parent 0"))
    assert status == 0
    pids = bench.marks("a*.pid", 2)
    wait_for(lambda: not any(running(pid) for pid in pids))


def test_no_process_outlives_a_killed_launcher(bench, worker, running):
    """Neither processes that ignore signals, nor their children, nor the guard."""
    path = bench.write(
        worker("a", "no_int no_term wait") + worker("b", "parent no_int no_term wait")
    )
    launcher = bench.start(str(path))
    pids = bench.marks("*.pid", 3)
    children = _children(launcher.pid)
    assert len(children) == 3  # two workers and the guard
    launcher.kill()
    launcher.wait()
    wait_for(lambda: not any(running(pid) for pid in [*pids, *children]))


def test_after_a_killed_launcher_processes_end_in_order_or_are_killed_at_their_time_limit(
    bench, worker, running
):
    release = bench.script(
        "import os, pathlib, signal, time\n"
        "here = pathlib.Path(__file__).parent\n"
        "received = []\n"
        "signal.signal(signal.SIGHUP, lambda number, frame: received.append(number))\n"
        "(here / 'c.pid.part').write_text(str(os.getpid()))\n"
        "(here / 'c.pid.part').rename(here / 'c.pid')\n"
        "while not (received and (here / 'go').exists()): time.sleep(0.05)\n"
        "(here / 'released').touch()\n",
        "release.py",
    )
    stubborn = "no_int no_term no_hup wait"
    path = bench.write(
        worker("a", stubborn, 'sigterm_timeout="1" sigkill_timeout="1"')
        + worker("b", stubborn, 'sigkill_timeout="inf"')
        + f'<node {release} sigkill_timeout="inf"/>'
    )
    launcher = bench.start(str(path))
    a, b, c = bench.marks("*.pid", 3)
    (guard,) = set(_children(launcher.pid)) - {a, b, c}
    launcher.kill()
    launcher.wait()
    wait_for(lambda: not running(a) and not running(guard))
    assert running(b) and running(c)
    (bench.directory / "go").touch()
    wait_for(lambda: not running(c))
    assert (bench.directory / "released").exists()
    os.kill(b, signal.SIGKILL)


def test_direct_children_die_with_the_launcher_even_without_its_guard(bench, worker, running):
    launcher = bench.start(str(bench.write(worker("a", "no_int no_term wait"))))
    (pid,) = bench.marks("*.pid", 1)
    (guard,) = set(_children(launcher.pid)) - {pid}
    os.kill(guard, signal.SIGKILL)
    launcher.kill()
    launcher.wait()
    wait_for(lambda: not running(pid))


def test_the_parent_death_signal_survives_exec(bench, running):
    """The ROS wheels replace the process when Python starts."""
    command = bench.script(
        "import os, pathlib, sys, time\n"
        "if 'again' not in sys.argv:\n"
        "    os.execv(sys.executable, [sys.executable, __file__, 'again'])\n"
        "pathlib.Path(__file__).with_name('a.pid').write_text(str(os.getpid()) or '')\n"
        "time.sleep(300)\n"
    )
    launcher = bench.start(str(bench.write(f"<node {command}/>")))
    wait_for(lambda: any(path.read_text() for path in bench.directory.glob("a.pid")))
    (pid,) = bench.marks("a.pid", 1)
    (guard,) = set(_children(launcher.pid)) - {pid}
    os.kill(guard, signal.SIGKILL)
    launcher.kill()
    launcher.wait()
    wait_for(lambda: not running(pid))


def test_a_closed_terminal_does_not_stop_the_processes(bench, worker):
    launcher = bench.start(str(bench.write(bench_loop(bench))))
    assert launcher.stdout is not None
    bench.marks("ready.pid", 1)
    launcher.stdout.close()
    (bench.directory / "go").touch()
    assert launcher.wait(timeout=60) == 0
    assert (bench.directory / "finished").exists()


def bench_loop(bench):
    """A process that prints after the file `go` exists, and marks its end."""
    command = bench.script(
        "import os, pathlib, sys, time\n"
        "here = pathlib.Path(__file__).parent\n"
        "(here / 'part').write_text(str(os.getpid()))\n"
        "(here / 'part').rename(here / 'ready.pid')\n"
        "while not (here / 'go').exists(): time.sleep(0.05)\n"
        "for i in range(1000): print('line', i)\n"
        "(here / 'finished').touch()\n",
        "loop.py",
    )
    return f'<node exec_name="loop" {command} output="screen"/>'


def _children(pid):
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_launching_leaves_no_files_behind(bench):
    show = bench.script(
        "import sys; print(open(sys.argv[sys.argv.index('--params-file')+1]).read())"
    )
    _, output = bench.run(f'<node {show} output="screen"><param name="a" value="1"/></node>')
    assert "a: 1" in output
    assert list((bench.directory / "tmp").iterdir()) == []
