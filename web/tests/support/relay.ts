// A network between a device and the server that can be cut. Chromium takes a new document offline a moment after its first requests.

import { type AddressInfo, connect, createServer, type Socket } from "node:net";

import { BASE } from "./browser.ts";

export class Relay {
  readonly #sockets = new Set<Socket>();
  #isDown = false;
  #close: () => void = () => undefined;
  /** The server's address through this network. */
  base = "";

  private constructor() {}

  static async open(): Promise<Relay> {
    const relay = new Relay();
    const { hostname, port } = new URL(BASE);
    const server = createServer((near) => {
      if (relay.#isDown) return void near.destroy();
      const far = connect(Number(port), hostname);
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const) {
        relay.#sockets.add(one.unref());
        one.on("error", () => other.destroy());
        one.on("close", () => {
          relay.#sockets.delete(one);
          // With what is still on its way.
          other.destroySoon();
        });
        one.pipe(other);
      }
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    // A test that has failed leaves it open.
    server.unref();
    relay.base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    relay.#close = () => server.close();
    return relay;
  }

  cut(): void {
    this.#isDown = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  mend(): void {
    this.#isDown = false;
  }

  close(): void {
    this.cut();
    this.#close();
  }
}
