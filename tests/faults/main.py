"""Fault runs: what clients see while operation goes wrong, and how long it takes until all is well again.

    tests/faults/run [--list] [--keep FOLDER] [FAULT…]      all of them, or the named ones

Each run starts a PostgreSQL and a server of its own on loopback, lets clients play by the rules of docs/api.md, breaks something, mends it, and
reads every acknowledged move back. A run is red if

- an acknowledged move was lost, or `mancala-server verify` finds a damaged game,
- a client saw a status 500, or any other answer that the fault does not explain,
- /livez failed while the process ran, or /readyz did not fail during a fault that makes moves impossible,
- clients still failed for longer than the run's bound after its cause was gone.

The exit status is 1 if a run is red. `--keep` copies the logs of the servers and of PostgreSQL. A run takes about 20 seconds, one
under Patroni a minute and more.
"""

import argparse
import asyncio
import os
import re
import signal
import sys

import faults_connections  # noqa: F401  (registers its faults)
import faults_database  # noqa: F401
import faults_network  # noqa: F401
import faults_patroni  # noqa: F401
import faults_pooler  # noqa: F401
import faults_process  # noqa: F401
import faults_rights  # noqa: F401
import faults_update  # noqa: F401
from cluster import Skipped
from run_of_fault import FAULTS, Run
from server import NotStarted

# Beyond this a run hangs.
RUN_S = 300
# A status that says that the server failed, or that the client did wrong, which it did not.
BAD = re.compile(r"^(500|40[0-8]|41\d|42[0-8])")
COLUMNS = ("fault", "acknowledged", "lost", "seen by clients", "/readyz", "recovery", "")


def print_row(*cells):
    widths = (28, 12, 4, 62, 18, 9, 0)
    print(" | ".join(str(cell).ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip(), flush=True)


def judge(run, function, acknowledged, lost, recovery):
    """The problems of a run, and the cells of its row."""
    problems, seen = list(run.problems), run.load.seen
    if lost:
        problems.insert(0, f"lost moves, such as {lost[:2]}")
    if not acknowledged:
        problems.append("no move was acknowledged: the run proves nothing")
    allowed = getattr(function, "allowed", ())
    problems += [f"clients saw {word}" for word in seen if BAD.match(word) and word not in allowed]
    if recovery is None:
        problems.append(f"not recovered after {run.bound_s} s")
    elif recovery > run.bound_s:
        problems.append(f"recovered after {recovery:.1f} s, bound {run.bound_s} s")
    if getattr(function, "is_seamless", False):
        problems += [f"clients saw {word}" for word in seen if word not in ("200", "201") and not BAD.match(word)]
    checks = run.probe.checks(run.begun_at, run.ended_at + 1)
    if run.is_unready and not any(word.startswith("503") for word in checks):
        problems.append(f"/readyz said {checks}")
    if bad := [word for word in run.probe.alive if word not in ("200", "down") and not words_of_an_end(word)]:
        problems.append(f"/livez: {dict(run.probe.alive)} ({bad})")
    words = ", ".join(f"{count} {word}" for word, count in seen.most_common())
    time = "never" if recovery is None else f"{recovery:.1f} s"
    return problems, (acknowledged, len(lost), words, ", ".join(checks), time)


def words_of_an_end(word):
    """What a probe sees of a process that is just ending or beginning."""
    return word in ("ConnectionRefusedError", "ConnectionResetError", "IncompleteReadError")


async def run_one(name, keep):
    """Runs a fault, prints its row; whether it is red."""
    function, bound_s, is_unready = FAULTS[name]
    run = Run(name, bound_s, is_unready)
    problems, cells = [], ("", "", "", "", "")
    try:
        async with asyncio.timeout(RUN_S):
            await function(run)
            recovery = await run.recovery()
            await run.load.stop()
            acknowledged, lost = await run.check()
            run.probe.stop()
            problems, cells = judge(run, function, acknowledged, lost, recovery)
    except Skipped as why:
        print_row(name, "", "", f"SKIPPED: {why}", "", "", "")
        await run.close()
        return False
    except NotStarted as why:
        problems = [f"the server does not start: {why}"]
    except Exception as error:  # A run that breaks is red; the others go on.
        problems = [f"{type(error).__name__}: {error}"]
    except asyncio.CancelledError:  # ^C and SIGTERM: nothing is left behind.
        await run.close(keep)
        raise
    before = len(run.problems)
    try:
        await run.close(keep)
    except Exception as error:
        problems.append(f"while ending: {type(error).__name__}: {error}")
    problems += run.problems[before:]
    print_row(name, *cells, "RED" if problems else "ok")
    for problem in [*run.notes, *problems]:
        print(f"    {problem}", flush=True)
    return bool(problems)


async def main():
    options = argparse.ArgumentParser(prog="tests/faults/run", description="Fault runs; see the head of tests/faults/main.py.")
    options.add_argument("fault", nargs="*", help="the runs; all of them if none is named")
    options.add_argument("--list", action="store_true", help="name all faults, and end")
    options.add_argument("--keep", metavar="FOLDER", help="copy the logs of each run there")
    given = options.parse_args()
    if given.list:
        for name, (function, *_) in FAULTS.items():
            print(f"{name:28} {function.__doc__.splitlines()[0]}")
        return 0
    if unknown := [name for name in given.fault if name not in FAULTS]:
        options.error(f"no such fault: {', '.join(unknown)}; --list names them")
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, asyncio.current_task().cancel)
    if given.keep:
        os.makedirs(given.keep, exist_ok=True)
    print_row(*COLUMNS)
    red = [name for name in given.fault or FAULTS if await run_one(name, given.keep)]
    if red:
        print(f"red: {', '.join(red)}", file=sys.stderr)
    return 1 if red else 0


try:
    sys.exit(asyncio.run(main()))
except (KeyboardInterrupt, asyncio.CancelledError):
    sys.exit("interrupted")
