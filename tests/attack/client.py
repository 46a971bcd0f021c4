"""What the attacks and the honest player call the server with."""

import asyncio
import json
import os
import socket
from urllib.parse import urlsplit

BASE = urlsplit(os.environ["BASE_URL"])


class Connection:
    """One HTTP/1.1 connection from a local address. With a small `window`, the kernel takes as little for it as over a slow network."""

    def __init__(self, address, window=None):
        self.address, self.window, self.reader, self.writer = address, window, None, None

    async def open(self):
        own = socket.socket()
        own.setblocking(False)
        if self.window:
            own.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, self.window)
        if self.address:
            own.bind((self.address, 0))
        await asyncio.get_running_loop().sock_connect(own, (BASE.hostname, BASE.port))
        self.reader, self.writer = await asyncio.open_connection(sock=own)

    async def send(self, method, path, token=None, body=None, kind="application/json", headers=""):
        if self.writer is None or self.writer.is_closing():
            await self.open()
        data = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        head = f"{method} {path} HTTP/1.1\r\nhost: {BASE.netloc}\r\ncontent-length: {len(data)}\r\n{headers}"
        if data:
            head += f"content-type: {kind}\r\n"
        if token:
            head += f"authorization: Bearer {token}\r\n"
        self.writer.write(head.encode() + b"\r\n" + data)
        await self.writer.drain()

    async def receive(self):
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode().lower()
        status = int(head.split(" ", 2)[1])
        if "transfer-encoding: chunked" in head:
            body = b""
            while size := int(await self.reader.readline(), 16):
                body += (await self.reader.readexactly(size + 2))[:-2]
            await self.reader.readline()
        else:
            length = [line for line in head.split("\r\n") if line.startswith("content-length:")]
            body = await self.reader.readexactly(int(length[0].split(":")[1])) if length else b""
        if "connection: close" in head:
            self.close()
        return status, body

    async def call(self, *arguments, **options):
        await self.send(*arguments, **options)
        return await self.receive()

    async def json(self, *arguments, **options):
        status, body = await self.call(*arguments, **options)
        assert status < 300, (arguments[:2], status, body[:300])
        return json.loads(body)

    def close(self):
        if self.writer is not None:
            self.writer.close()
            self.writer = None
