// Server-sent events, as the HTML standard defines them, from the bytes of an answer.

import type { Limit } from "./core.js";
import { ignore } from "./platform.js";

export interface SseMessage {
  /** The last id that the stream has named, also without an event. */
  id: string | undefined;
  type: string;
  /** Empty where only an id or a comment came. */
  data: string;
  /** How long to wait before reconnecting, if the stream said so by now. */
  retryMs: number | undefined;
}

/** Reads a stream to its end. A comment, too, is passed on, as a message without data: it shows that the connection lives. */
export async function* readSse(body: ReadableStream<Uint8Array>, limit: Pick<Limit, "race">, onBytes: () => void): AsyncGenerator<SseMessage, void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const parser = new SseParser();
  try {
    for (;;) {
      const { done, value } = await limit.race(reader.read());
      if (done) return;
      onBytes();
      yield* parser.push(decoder.decode(value, { stream: true }));
    }
  } finally {
    // Not awaited: what never hears of the end may never confirm it.
    reader.cancel().catch(ignore);
  }
}

/** Cuts text into messages. Lines may end in CR, LF or both, and be split anywhere. */
export class SseParser {
  #rest = "";
  #id: string | undefined;
  #type = "";
  #data: string[] = [];
  #retryMs: number | undefined;

  *push(text: string): Generator<SseMessage, void, undefined> {
    this.#rest += text;
    for (;;) {
      const line = /^([^\r\n]*)(\r\n|\n|\r(?=.))/s.exec(this.#rest);
      if (!line) return;
      this.#rest = this.#rest.slice(line[0].length);
      const message = this.#take(line[1] ?? "");
      if (message) yield message;
    }
  }

  #take(line: string): SseMessage | undefined {
    if (line === "") {
      const message = { id: this.#id, type: this.#type || "message", data: this.#data.join("\n"), retryMs: this.#retryMs };
      this.#type = "";
      this.#data = [];
      return message;
    }
    const [, field = "", value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (field === "id" && !value.includes("\0")) this.#id = value;
    else if (field === "event") this.#type = value;
    else if (field === "data") this.#data.push(value);
    else if (field === "retry" && /^\d+$/.test(value)) this.#retryMs = Number(value);
    return undefined;
  }
}
