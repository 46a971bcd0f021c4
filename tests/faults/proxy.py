"""A TCP proxy between a server and its database, which can break in the ways in which networks break."""

import asyncio
import socket
import struct

CHUNK = 65536


class Proxy:
    """Passes bytes on to `target` (a port of this machine), unless told otherwise."""

    def __init__(self, target):
        self.target, self.delay_s, self.refuses = target, 0.0, False
        # Whether bytes vanish, both ways; and whether those on their way back wait here, as TCP makes them wait on a broken line.
        self.swallows, self.holds_answers = False, False
        self.pairs, self.server, self.port = set(), None, None

    async def start(self):
        self.server = await asyncio.start_server(self.accept, "127.0.0.1", 0)
        self.port = self.server.sockets[0].getsockname()[1]
        return self

    async def accept(self, reader, writer):
        if self.refuses:
            self.reset(writer)
            return
        try:
            up_reader, up_writer = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            writer.close()
            return
        pair = (writer, up_writer)
        self.pairs.add(pair)
        ways = (self.pass_on(reader, up_writer, False), self.pass_on(up_reader, writer, True))
        tasks = [asyncio.ensure_future(way) for way in ways]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            # The run ends.
            pass
        for task in tasks:
            task.cancel()
        for each in pair:
            each.close()
        self.pairs.discard(pair)

    async def pass_on(self, reader, writer, is_answer):
        try:
            while data := await reader.read(CHUNK):
                if self.delay_s:
                    await asyncio.sleep(self.delay_s)
                while is_answer and self.holds_answers:
                    await asyncio.sleep(0.02)
                if not self.swallows:
                    writer.write(data)
                    await writer.drain()
        except OSError:
            pass

    @staticmethod
    def reset(writer):
        """Closes by RST: the peer's next read fails."""
        own = writer.get_extra_info("socket")
        if own is not None:
            own.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()

    def cut(self, with_reset=False):
        """Ends all connections that there are."""
        for pair in list(self.pairs):
            for writer in pair:
                if with_reset:
                    self.reset(writer)
                else:
                    writer.close()

    def stop(self):
        self.cut()
        self.server.close()
