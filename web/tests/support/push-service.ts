// A push service for the browser of the tests, in place of Google's. Chromium signs in and subscribes here, and gets from here what the server
// has sent: sealed, so that Chromium itself must open it. Chromium's switches name its three addresses: two speak HTTP, and the third, MCS, sends
// messages in the form of Protocol Buffers over TLS.

import { execFileSync } from "node:child_process";
import { createPublicKey, verify } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Server, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer as createTlsServer } from "node:tls";

/** A request of the server that brought a notification. */
export interface Sent {
  /** The claims of the token, which the key of the subscription has signed. */
  claims: Record<string, unknown>;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

/** A subscription of the browser: for whom its messages are, by the names that Chromium gives. */
interface Subscribed {
  category: string;
  subtype: string;
  /** The server's public key, in Base64 for URLs. */
  sender: string;
}

const DEVICE = 4711n;
const MCS_VERSION = 41;
const TAG = { heartbeat: 0, heartbeatAck: 1, login: 2, loggedIn: 3, data: 8 } as const;

export class PushService {
  /** What the server has sent and Chromium was handed. */
  readonly sent: Sent[] = [];
  /** What was wrong with requests. A test expects it to be empty. */
  readonly faults: string[] = [];
  #tokens = 0;
  readonly #subscribed = new Map<string, Subscribed>();
  readonly #servers: Server[] = [];
  readonly #sockets = new Set<Socket>();
  #browser: Socket | undefined;
  #origin = "";
  #mcs = 0;

  private constructor() {}

  static async open(): Promise<PushService> {
    const service = new PushService();
    const http = createServer((request, response) => void service.#answer(request, response));
    const mcs = createTlsServer(certificate(), (socket) => service.#connect(socket));
    service.#origin = `http://127.0.0.1:${await service.#listen(http)}`;
    service.#mcs = await service.#listen(mcs);
    return service;
  }

  /** What Chromium must be started with to use this service. */
  get switches(): string[] {
    return [
      `--gcm-checkin-url=${this.#origin}/checkin`,
      `--gcm-registration-url=${this.#origin}/register`,
      `--gcm-mcs-endpoint=https://127.0.0.1:${this.#mcs}`,
      // The certificate of this service is its own.
      "--ignore-certificate-errors",
    ];
  }

  /** Where the server reaches subscriptions: the address before the token. */
  get address(): string {
    return `${this.#origin}/send/`;
  }

  /** How many subscriptions of pages there are. Chromium has one more, for itself. */
  get count(): number {
    return [...this.#subscribed.values()].filter(({ subtype }) => subtype.startsWith("wp:")).length;
  }

  close(): void {
    for (const server of this.#servers) server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  async #listen(server: Server): Promise<number> {
    this.#servers.push(server);
    // A test that has failed leaves it open.
    server.unref();
    server.on("connection", (socket: Socket) => this.#sockets.add(socket.unref()));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return (server.address() as AddressInfo).port;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = Buffer.concat(await request.toArray());
    const { pathname } = new URL(request.url ?? "/", this.#origin);
    if (pathname === "/checkin") response.end(checkedIn());
    else if (pathname === "/register") response.end(this.#register(new URLSearchParams(body.toString())));
    else response.writeHead(this.#send(pathname.replace("/send/", ""), request, body)).end();
  }

  /** Gives a token for a subscription, or ends it. */
  #register(form: URLSearchParams): string {
    const [category, subtype, sender] = ["app", "X-subtype", "sender"].map((name) => form.get(name) ?? "") as [string, string, string];
    if (form.has("delete")) {
      for (const [token, { subtype: each }] of this.#subscribed) if (each === subtype) this.#subscribed.delete(token);
      return "token=";
    }
    const token = `device-${++this.#tokens}:token`;
    this.#subscribed.set(token, { category, subtype, sender });
    return `token=${token}`;
  }

  /** Takes a notification from the server and hands it on as it is. */
  #send(token: string, { headers, method }: IncomingMessage, body: Buffer): number {
    const to = this.#subscribed.get(decodeURIComponent(token));
    if (!to || method !== "POST") return this.#refuse(404, `nothing is subscribed with ${token}`);
    const claims = verified(headers.authorization ?? "", to.sender);
    if (!claims || claims["aud"] !== this.#origin) return this.#refuse(403, `not the key's: ${headers.authorization}`);
    if (!this.#browser) return this.#refuse(503, "the browser is not connected");
    this.#browser.write(message(to, String(headers["content-encoding"]), this.sent.length + 1, body));
    this.sent.push({ claims, headers, body });
    return 201;
  }

  #refuse(status: number, fault: string): number {
    this.faults.push(fault);
    return status;
  }

  #connect(socket: Socket): void {
    let read = Buffer.alloc(0);
    let isNew = true;
    socket.on("error", () => undefined);
    socket.on("data", (bytes) => {
      read = Buffer.concat([read, bytes]);
      if (isNew && read.length > 0) {
        isNew = false;
        read = read.subarray(1);
        socket.write(Buffer.of(MCS_VERSION));
      }
      for (let next = frameAt(read); next; next = frameAt(read)) {
        read = read.subarray(next.length);
        if (next.tag === TAG.heartbeat) socket.write(frame(TAG.heartbeatAck, Buffer.alloc(0)));
        if (next.tag !== TAG.login) continue;
        socket.write(frame(TAG.loggedIn, text(1, "login")));
        this.#browser = socket;
      }
    });
  }
}

/** A certificate and its key, which no browser trusts. */
function certificate(): { key: Buffer; cert: Buffer } {
  const folder = mkdtempSync(join(tmpdir(), "push-service-"));
  const [key, cert] = [join(folder, "key"), join(folder, "cert")] as const;
  const command = "req -x509 -nodes -newkey ec -pkeyopt ec_paramgen_curve:P-256 -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1";
  try {
    execFileSync("openssl", [...command.split(" "), "-keyout", key, "-out", cert], { stdio: "pipe" });
    return { key: readFileSync(key), cert: readFileSync(cert) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The claims of an `Authorization` of VAPID (RFC 8292), if this key, and no other, has signed it. */
function verified(authorization: string, publicKey: string): Record<string, unknown> | null {
  const [, token = "", key] = /^vapid t=([\w.-]+), k=([\w-]+)$/.exec(authorization) ?? [];
  const [header = "", claims = "", signature = ""] = token.split(".");
  const point = Buffer.from(publicKey, "base64url");
  if (key === undefined || !Buffer.from(key, "base64url").equals(point)) return null;
  const [x, y] = [point.subarray(1, 33).toString("base64url"), point.subarray(33).toString("base64url")];
  const signer = createPublicKey({ key: { kty: "EC", crv: "P-256", x, y }, format: "jwk" });
  const isSigned = verify("sha256", Buffer.from(`${header}.${claims}`), { key: signer, dsaEncoding: "ieee-p1363" }, Buffer.from(signature, "base64url"));
  return isSigned ? (JSON.parse(Buffer.from(claims, "base64url").toString()) as Record<string, unknown>) : null;
}

// The messages, by the numbers of their fields in Chromium's `checkin.proto` and `mcs.proto`.

/** `AndroidCheckinResponse`: the browser's id and its secret. */
function checkedIn(): Buffer {
  return Buffer.concat([number(1, 1), fixed64(7, DEVICE), fixed64(8, DEVICE)]);
}

/** `DataMessageStanza`: a sealed message for a subscription. */
function message({ category, subtype, sender }: Subscribed, encoding: string, count: number, body: Buffer): Buffer {
  const data = [
    ["subtype", subtype],
    ["content-encoding", encoding],
  ] as const;
  const appData = data.map(([key, value]) => bytes(7, Buffer.concat([text(1, key), text(2, value)])));
  return frame(TAG.data, Buffer.concat([text(3, sender), text(5, category), ...appData, text(9, `message-${count}`), number(10, count + 1), bytes(21, body)]));
}

function varint(value: number): Buffer {
  const out: number[] = [];
  for (; value > 127; value = Math.floor(value / 128)) out.push((value % 128) | 128);
  return Buffer.from([...out, value]);
}

function number(field: number, value: number): Buffer {
  return Buffer.concat([varint(field * 8), varint(value)]);
}

function fixed64(field: number, value: bigint): Buffer {
  const out = Buffer.alloc(8);
  out.writeBigUInt64LE(value);
  return Buffer.concat([varint(field * 8 + 1), out]);
}

function bytes(field: number, value: Buffer): Buffer {
  return Buffer.concat([varint(field * 8 + 2), varint(value.length), value]);
}

function text(field: number, value: string): Buffer {
  return bytes(field, Buffer.from(value));
}

/** A message on the connection: its type, its length, and itself. */
function frame(tag: number, body: Buffer): Buffer {
  return Buffer.concat([Buffer.of(tag), varint(body.length), body]);
}

/** The message that begins here, if all of it has arrived. */
function frameAt(read: Buffer): { tag: number; length: number } | null {
  let size = 0;
  for (let at = 1; at < read.length; at += 1) {
    const byte = read[at] ?? 0;
    size += (byte & 127) * 128 ** (at - 1);
    if (byte < 128) return at + 1 + size <= read.length ? { tag: read[0] ?? 0, length: at + 1 + size } : null;
  }
  return null;
}
