// Sign-in by issuers: what is kept between the issuer's page and the way back, and what becomes of it.

import assert from "node:assert/strict";
import test from "node:test";
import { beginSignIn, completeSignIn, MemoryStorage, signInBy } from "@mancala-server/client";
import { Network } from "./support/network.js";
import { alone, failureOf } from "./support/server.js";

const PAGE = "https://issuer.example/authorize?state=s";
const BACK = "https://play.example/back";

/** A network whose server knows the issuer `stub`. The tokens of a sign-in are those of a guest. */
async function withIssuer(context: { after(work: () => void): void }): Promise<{ network: Network; completed: string[] }> {
  const network = await Network.open({});
  context.after(() => network.close());
  const made = await fetch(`${network.url}/v1/players`, { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" });
  const tokens = await made.text();
  const completed: string[] = [];
  network.intercept = (_, path) => {
    if (path === "/v1/sign-in/stub") {
      return { status: 200, body: JSON.stringify({ authorization_url: PAGE, session: "sealed", expires_in: 600 }) };
    }
    if (path !== "/v1/sign-in/stub/complete") return undefined;
    completed.push(path);
    return { status: 201, body: tokens };
  };
  return { network, completed };
}

test("a sign-in by an issuer makes its tokens the session's, and keeps the guest aside", async (context) => {
  const { network } = await withIssuer(context);
  const client = alone(network.url);
  const guest = await client.session.guest("Ana");
  const player = await signInBy(client.session, "stub", {
    redirectUri: BACK,
    open: async (url) => {
      assert.equal(url, PAGE);
      return `${BACK}?code=c&state=s&iss=https%3A%2F%2Fissuer.example`;
    },
  });
  assert.notEqual(player.id, guest.id);
  assert.equal(client.session.current()?.player.id, player.id);
  assert.equal(client.session.keptGuest()?.id, guest.id);
  // The tokens work.
  await client.games.summary();
});

test("a sign-in is completed after a reload, once", async (context) => {
  const { network, completed } = await withIssuer(context);
  const storage = new MemoryStorage();
  const before = alone(network.url, { storage });
  assert.equal(await beginSignIn(before.session, "stub", BACK), PAGE);
  before.close();
  const after = alone(network.url, { storage });
  const player = await completeSignIn(after.session, new URL(`${BACK}?code=c&state=s`));
  assert.equal(after.session.current()?.player.id, player.id);
  assert.equal((await failureOf(completeSignIn(after.session, `${BACK}?code=c&state=s`))).code, "sign_in_refused");
  assert.equal(completed.length, 1);
});

test("a person who declines is told so, and nothing is sent", async (context) => {
  const { network, completed } = await withIssuer(context);
  const client = alone(network.url);
  const open = async () => `${BACK}?error=access_denied&state=s`;
  const failure = await failureOf(signInBy(client.session, "stub", { redirectUri: BACK, open }));
  assert.deepEqual([failure.code, failure.detail], ["sign_in_refused", "the issuer says: access_denied"]);
  assert.deepEqual([completed.length, client.session.current()], [0, null]);
});
