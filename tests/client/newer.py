"""A server of the future: passes calls on to a server, and adds to its answers what no client of today knows.

    newer.py BASE_URL COMMAND...   runs the command with two more arguments: the address of the proxy, and `newer`

Each object of an answer gets an unknown field, each list of effects an unknown effect, each page of events an unknown event, and words
that may grow become unknown words.
"""

import http.client
import http.server
import json
import subprocess
import sys
import threading
import urllib.parse

# Fields with words that may grow, where no client needs them to play.
WORDS = {"kind", "code", "reason", "class"}

# Objects whose `type` is such a word.
TYPED = {"opponent", "clock"}

# Objects with names that are no fields: the keys of options, and JSON Schemas.
MAPS = {"options", "options_schema", "preset_schemas"}


def newer(value, name=""):
    if isinstance(value, list):
        items = [newer(item) for item in value]
        if name == "effects":
            items.append({"type": "newer_effect", "height": 3, "newer_field": {"deep": [1]}})
        if name == "items" and value and isinstance(value[0], dict) and "seq" in value[0]:
            last = value[-1]
            items.append({"type": "newer_event", "game_id": last["game_id"], "seq": last["seq"] + 1, "at": last["at"], "newer_field": 1})
        return items
    if not isinstance(value, dict) or name in MAPS:
        return value
    answer = {key: newer(item, key) for key, item in value.items()}
    for word in WORDS & answer.keys():
        if isinstance(answer[word], str):
            answer[word] = f"newer_{word}"
    if name in TYPED:
        answer["type"] = "newer_type"
    if answer.get("status") == "finished":
        answer["status"] = "newer_status"
    answer["newer_field"] = {"deep": [1]}
    return answer


class Proxy(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_url: urllib.parse.SplitResult

    def pass_on(self):
        length = int(self.headers.get("content-length") or 0)
        body = self.rfile.read(length) if length else None
        # An answer that is compressed could not be changed; and each call has its own connection to the server.
        dropped = {"host", "accept-encoding", "connection", "content-length", "upgrade", "http2-settings"}
        headers = {name: value for name, value in self.headers.items() if name.lower() not in dropped}
        connection = http.client.HTTPConnection(self.server_url.hostname, self.server_url.port, timeout=60)
        connection.request(self.command, self.path, body, headers)
        answer = connection.getresponse()
        content = answer.read()
        if "json" in (answer.headers.get("content-type") or "") and content:
            content = json.dumps(newer(json.loads(content))).encode()
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            if name.lower() not in {"content-length", "connection", "transfer-encoding"}:
                self.send_header(name, value)
        if answer.status not in {204, 304}:
            self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
        connection.close()

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = pass_on

    def log_message(self, *_):
        pass


def main():
    Proxy.server_url = urllib.parse.urlsplit(sys.argv[1])
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_address[1]}"
    sys.exit(subprocess.run([*sys.argv[2:], address, "newer"]).returncode)


main()
