"""An update without a gap, and one step back: the release before and this one at one database. No call may fail.

OLD_SERVER is the binary of the release before. tests/update/run builds it, and calls these two runs.
"""

import asyncio
import os

from cluster import Skipped
from faults_process import Ready
from run_of_fault import fault
from server import NotStarted

BOTH_S = 4
DRAIN = ("--drain-s", "2")


def old_binary():
    if not os.environ.get("OLD_SERVER"):
        raise Skipped("tests/update/run sets OLD_SERVER")
    return os.environ["OLD_SERVER"]


async def hand_over(run, url, first, second, what):
    """The binary `first` serves; `second` is started beside it; both serve; then only `second` does."""
    leaving = await run.server(url, *DRAIN, binary=first)
    ready = Ready(leaving)
    await run.play(ready.targets)
    run.begin()
    try:
        joining = await run.server(url, *DRAIN, binary=second)
    except NotStarted as why:
        run.problems.append(f"{what} does not start: {why}")
        run.end()
        return
    ready.servers.append(joining)
    await asyncio.sleep(BOTH_S)
    if missing := [name for server, name in ((leaving, "the one that leaves"), (joining, "the one that joins"))
                   if server.base not in ready.targets.bases]:
        run.problems.append(f"{what}: not ready while both run: {', '.join(missing)}")
    status = await leaving.stop()
    if status != 0:
        run.problems.append(f"the server that leaves ends with {status}")
    await asyncio.sleep(BOTH_S)
    run.end()


@fault()
async def update(run):
    """The release before serves load while this one migrates and joins; then it ends."""
    cluster, old = run.cluster(), old_binary()
    await hand_over(run, cluster.url(), old, os.environ["SERVER"], "this release, at the database of the one before,")


update.is_seamless = True


@fault()
async def step_back(run):
    """This release serves load on its schema while the release before is started again and joins; then this one ends."""
    cluster, old = run.cluster(), old_binary()
    await hand_over(run, cluster.url(), os.environ["SERVER"], old, "the release before, on the new schema,")


step_back.is_seamless = True
