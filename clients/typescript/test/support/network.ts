// A network between a client and the server: it counts, loses, delays and answers in the server's place.

import { createServer, request as forward, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { baseUrl } from "./server.js";

export interface Seen {
  method: string;
  path: string;
  /** What the network did with it. */
  fate: Fate;
}

export type Fate =
  | "passed"
  /** The request does not arrive. */
  | "lost"
  /** The server has acted, and the answer is lost. */
  | "unanswered"
  /** The connection breaks in the middle of the answer. */
  | "cut";

/** An answer in the server's place. */
export interface Canned {
  status: number;
  headers?: Record<string, string>;
  body?: string;
}

export interface NetworkOptions {
  /** The share of requests whose answer does not arrive whole. */
  loss?: number;
  seed?: number;
  /** Streams are held back, as by a proxy that collects answers. */
  holdsStreams?: boolean;
}

export class Network {
  readonly seen: Seen[] = [];
  /** The bytes of all answers that were passed on. */
  bytes = 0;
  /** Streams that are open now. */
  readonly streams = new Set<ServerResponse>();
  loss: number;
  holdsStreams: boolean;
  isDown = false;
  /** What happens to the next requests, before chance decides. */
  readonly next: Fate[] = [];
  /** Answers in the server's place, or lets a request pass. */
  intercept: ((method: string, path: string) => Canned | undefined) | undefined;
  readonly #random: () => number;
  readonly #server: Server;
  url = "";

  private constructor(options: NetworkOptions) {
    this.loss = options.loss ?? 0;
    this.holdsStreams = options.holdsStreams ?? false;
    this.#random = random(options.seed ?? 1);
    this.#server = createServer((request, response) => this.#handle(request, response));
  }

  static async open(options: NetworkOptions = {}): Promise<Network> {
    const network = new Network(options);
    await new Promise<void>((resolve) => network.#server.listen(0, "127.0.0.1", resolve));
    network.url = `http://127.0.0.1:${(network.#server.address() as AddressInfo).port}`;
    return network;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /** Breaks all streams that are open. */
  cutStreams(): void {
    for (const stream of this.streams) stream.destroy();
  }

  count(method: string, path: RegExp): number {
    return this.seen.filter((seen) => seen.method === method && path.test(seen.path)).length;
  }

  fates(): Record<Fate, number> {
    const fates = { passed: 0, lost: 0, unanswered: 0, cut: 0 };
    for (const { fate } of this.seen) fates[fate] += 1;
    return fates;
  }

  #handle(request: IncomingMessage, response: ServerResponse): void {
    const [method, path] = [request.method ?? "", request.url ?? ""];
    const canned = this.intercept?.(method, path);
    const fate = this.isDown ? "lost" : canned ? "passed" : this.#fate(method);
    // A browser's question whether it may ask is no request of the client.
    if (method !== "OPTIONS") this.seen.push({ method, path, fate });
    if (fate === "lost") return void request.socket.destroy();
    if (canned) return this.#answer(response, canned);
    const isStream = request.headers.accept === "text/event-stream";
    const onward = forward(baseUrl + path, { method, headers: request.headers }, (answer) => {
      if (fate === "unanswered") {
        // Acted upon: the status has come, but the client never learns it.
        answer.destroy();
        return void request.socket.destroy();
      }
      if (isStream) this.#stream(answer, response, fate);
      else this.#pass(answer, response, fate);
    });
    onward.on("error", () => request.socket.destroy());
    response.on("close", () => onward.destroy());
    request.pipe(onward);
  }

  #answer(response: ServerResponse, { status, headers, body }: Canned): void {
    response.writeHead(status, { "access-control-allow-origin": "*", "content-type": "application/problem+json", ...headers });
    response.end(body ?? "");
  }

  #pass(answer: IncomingMessage, response: ServerResponse, fate: Fate): void {
    const chunks: Buffer[] = [];
    answer.on("data", (chunk: Buffer) => chunks.push(chunk));
    answer.on("error", () => response.destroy());
    answer.on("end", () => {
      const body = Buffer.concat(chunks);
      this.bytes += body.length;
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      if (fate !== "cut" || body.length === 0) return void response.end(body);
      response.write(body.subarray(0, body.length / 2), () => response.destroy());
    });
  }

  #stream(answer: IncomingMessage, response: ServerResponse, fate: Fate): void {
    this.streams.add(response);
    response.on("close", () => this.streams.delete(response));
    answer.on("error", () => response.destroy());
    if (this.holdsStreams) return;
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    response.flushHeaders();
    // Somewhere in the first kilobyte, also within an event.
    let left = fate === "cut" ? Math.floor(this.#random() * 1024) : Infinity;
    answer.on("data", (chunk: Buffer) => {
      this.bytes += chunk.length;
      left -= chunk.length;
      if (left > 0) response.write(chunk);
      else response.write(chunk.subarray(0, chunk.length + left), () => response.destroy());
    });
    answer.on("end", () => response.end());
  }

  #fate(method: string): Fate {
    const planned = method === "OPTIONS" ? undefined : this.next.shift();
    if (planned !== undefined) return planned;
    if (method === "OPTIONS" || this.#random() >= this.loss) return "passed";
    return (["lost", "unanswered", "cut"] as const)[Math.floor(this.#random() * 3)] ?? "lost";
  }
}

/** The same numbers each time (mulberry32). */
export function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
