"""Faults of the network between the server and its database, made by a proxy."""

import asyncio

from proxy import Proxy
from run_of_fault import fault


async def behind_proxy(run):
    """A cluster, a proxy and a server that reaches the one through the other; the proxy."""
    cluster = run.cluster()
    proxy = await Proxy(cluster.port).start()
    run.undo.append(proxy.stop)
    await run.server(cluster.url(proxy.port))
    await run.play()
    run.begin()
    return proxy


@fault(is_unready=True)
async def network_cut(run):
    """All connections are closed, and new ones refused for 5 s."""
    proxy = await behind_proxy(run)
    proxy.refuses = True
    proxy.cut()
    await asyncio.sleep(5)
    proxy.refuses = False
    run.end()


@fault()
async def network_resets(run):
    """All connections are reset, again and again for 6 s."""
    proxy = await behind_proxy(run)
    for _ in range(20):
        proxy.cut(with_reset=True)
        await asyncio.sleep(0.3)
    run.end()


@fault()
async def network_slow(run):
    """Each piece of data is 200 ms late, both ways, for 8 s."""
    proxy = await behind_proxy(run)
    proxy.delay_s = 0.2
    await asyncio.sleep(8)
    proxy.delay_s = 0.0
    run.end()


@fault(is_unready=True)
async def network_black_hole(run):
    """All data vanishes for 10 s, both ways, and connections stay open."""
    proxy = await behind_proxy(run)
    proxy.swallows = True
    await asyncio.sleep(10)
    proxy.swallows = False
    # What was lost on the way leaves connections without use; a router that comes back resets them.
    proxy.cut(with_reset=True)
    run.end()


@fault(is_unready=True)
async def network_mute(run):
    """Statements arrive and are executed, but their answers are on their way for 8 s."""
    proxy = await behind_proxy(run)
    proxy.holds_answers = True
    await asyncio.sleep(8)
    proxy.holds_answers = False
    run.end()
