"""One run: a cluster, servers, clients, a fault, and what came of it."""

import asyncio
import os
import shutil
import subprocess
import tempfile
import time

from clients import Load, Probe, Targets
from cluster import Cluster
from server import Server

QUIET_S = 2.0
# A run is recovered when no client has failed for so long, and each has succeeded.
CALM_S = 2.0

FAULTS = {}


def fault(bound_s=15, is_unready=False):
    """Registers a fault under the name of its function. Its recovery may take `bound_s`. `is_unready`: /readyz has to fail meanwhile."""

    def register(function):
        FAULTS[function.__name__] = (function, bound_s, is_unready)
        return function

    return register


class Run:
    """What a fault gets: it starts what it needs, calls `begin`, does harm, and calls `end` when the cause is gone."""

    def __init__(self, name, bound_s=15, is_unready=False):
        self.name, self.bound_s, self.is_unready = name, bound_s, is_unready
        self.folder = tempfile.mkdtemp(prefix="mancala-faults-", dir="/var/tmp")
        # PostgreSQL runs as another user when this runs as root.
        os.chmod(self.folder, 0o777)
        self.clusters, self.servers, self.undo = [], [], []
        self.load, self.probe, self.begun_at, self.ended_at = None, None, None, None
        # Which acknowledged moves have to be there at the end.
        self.counts = lambda sent, acknowledged: True
        # A second server that has to show every game as the first one does.
        self.compared = None
        # What else is asked at the end, after the load: each returns problems.
        self.checks = []
        self.notes, self.problems = [], []

    def cluster(self, name="pg", options=()):
        cluster = Cluster(self.folder, name, options)
        self.clusters.append(cluster)
        return cluster.create()

    def key(self):
        path = os.path.join(self.folder, "jwt.pem")
        if not os.path.exists(path):
            subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", path], check=True, capture_output=True)
            os.chmod(path, 0o600)
        return path

    async def server(self, url, *arguments, **options):
        """A server at an outside database."""
        variables = {"DATABASE_URL": url, "JWT_PRIVATE_KEY_FILE": self.key()} | options.pop("variables", {})
        server = Server(self.folder, arguments, variables, **options)
        self.servers.append(server)
        return await server.start()

    async def embedded_server(self):
        server = Server(self.folder, ["--data-dir", os.path.join(self.folder, "data")])
        self.servers.append(server)
        return await server.start()

    async def play(self, targets=None, clock=None, **options):
        """Starts the clients, and lets them play undisturbed for a while."""
        self.load = Load(clock)
        self.load.start(targets or Targets(self.servers[0].base), **options)
        self.probe = Probe(self.servers[0])
        await asyncio.sleep(QUIET_S)
        if self.load.failed_at:
            self.problems.append(f"failures before the fault: {dict(self.load.seen)}")

    def begin(self):
        self.begun_at = time.monotonic()

    def end(self):
        self.ended_at = time.monotonic()

    async def recovery(self):
        """Seconds from the end of the cause to the end of the last failed call; None if clients still fail after the bound."""
        load, deadline = self.load, self.ended_at + self.bound_s + CALM_S
        while True:
            since = max(self.ended_at, load.failed_at)
            is_served = len(load.succeeded) == len(load.tasks) and all(at > since for at in load.succeeded.values())
            if is_served and time.monotonic() - since >= CALM_S:
                return max(0.0, load.failed_at - self.ended_at)
            if time.monotonic() > deadline:
                return None
            await asyncio.sleep(0.05)

    async def check(self):
        """After the load: reads the ledger back, and verifies the stored games. (acknowledged, lost)"""
        running = [server for server in self.servers if server.is_running()]
        acknowledged, lost = await self.load.read_back(running[0].base, self.counts)
        self.problems += self.load.violations[:3]
        if self.compared:
            differing = await self.load.differences(self.servers[0].base, self.compared.base)
            self.problems += [f"two servers show {len(differing)} games differently, such as {differing[0]}"] if differing else []
        for check in self.checks:
            self.problems += await check()
        verified = await asyncio.to_thread(running[0].command, "verify")
        if verified.returncode != 0:
            self.problems.append(f"verify ends with {verified.returncode}: {(verified.stdout + verified.stderr).strip()[-300:]}")
        return acknowledged, lost

    async def close(self, keep=None):
        if self.probe:
            self.probe.stop()
        for task in self.load.tasks if self.load else []:
            task.cancel()
        for server in self.servers:
            status = await server.stop()
            if status != 0 and server.base:
                self.problems.append(f"a server ends with {status}: {server.tail()}")
        for cluster in self.clusters:
            cluster.destroy()
        for undo in reversed(self.undo):
            undo()
        if keep:
            shutil.copytree(self.folder, os.path.join(keep, self.name), dirs_exist_ok=True,
                            ignore=lambda _, names: [name for name in names if not name.endswith(".log")])
        shutil.rmtree(self.folder, ignore_errors=True)
