"""A server process of a fault run."""

import asyncio
import os
import re
import resource
import signal
import subprocess
import time
from urllib.parse import urlsplit

START_S = 60
STOP_S = 40


class NotStarted(Exception):
    """The server ended, or did not become ready; the text is the end of its log."""


class Server:
    """A `mancala-server`, by the binary in SERVER unless another one is named."""

    numbers = 0

    def __init__(self, folder, arguments=(), variables=None, binary=None, listen="127.0.0.1:0", files=None):
        Server.numbers += 1
        self.folder, self.arguments, self.variables = folder, list(arguments), variables or {}
        self.binary, self.listen, self.files = binary or os.environ["SERVER"], listen, files
        self.log = os.path.join(folder, f"server-{Server.numbers}.log")
        self.process, self.base = None, None

    def command(self, command, *arguments):
        """Runs a command of the same binary on the same database."""
        return subprocess.run([self.binary, command, *arguments, "--log-format", "json"], capture_output=True, text=True,
                              timeout=300, env=self.environment(), check=False)

    def environment(self):
        words = {"PATH": os.environ["PATH"], "RATE_LIMITS": "off", "LOG_FORMAT": "json", "HOME": self.folder}
        return words | {key: value for key, value in os.environ.items() if key == "PG_BIN"} | self.variables

    def limit(self):
        if self.files:
            resource.setrlimit(resource.RLIMIT_NOFILE, (self.files, self.files))

    async def start(self, seconds=START_S):
        """Starts the process, and waits until it serves. The port of the first start is kept."""
        with open(self.log, "ab") as log:
            begun = log.tell()
            self.process = subprocess.Popen([self.binary, "--listen", self.listen, *self.arguments], stdout=log,
                                            stderr=log, env=self.environment(), preexec_fn=self.limit)
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.process.poll() is None:
            with open(self.log, "rb") as log:
                log.seek(begun)
                found = re.search(rb"API (http://([^/]*))/v1", log.read())
            if found:
                self.base = urlsplit(found[1].decode())
                self.listen = self.base.netloc
                return self
            await asyncio.sleep(0.02)
        raise NotStarted(self.tail())

    def tail(self):
        with open(self.log, errors="replace") as log:
            return log.read().strip()[-300:]

    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def kill(self):
        self.process.kill()
        self.process.wait()

    async def stop(self):
        """SIGTERM, and waits for the end: the exit status."""
        if not self.is_running():
            return self.process and self.process.returncode
        self.process.send_signal(signal.SIGTERM)
        try:
            return await asyncio.to_thread(self.process.wait, STOP_S)
        except subprocess.TimeoutExpired:
            self.kill()
            return None
