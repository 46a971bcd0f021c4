// What takes an account over is confirmed by the player, once.

import assert from "node:assert/strict";
import test from "node:test";
import type { Client, Confirmation } from "@mancala-server/client";
import { Network } from "./support/network.js";
import { alone, failureOf } from "./support/server.js";

const PASSWORD = "a long enough passphrase";
const unique = (name: string) => `${name} ${Math.random().toString(36).slice(2, 10)}`;
const REFUSAL = { status: 403, body: JSON.stringify({ code: "recent_sign_in_required", detail: "who is it?" }) };

/** An account whose sign-in the server takes for an old one, in the next calls that match. */
async function account(context: { after(work: () => void): void }, answer: (client: Client) => Promise<Confirmation | null>, refused: RegExp[]) {
  const network = await Network.open();
  context.after(() => network.close());
  let asked = 0;
  const name = unique("Ana");
  const client: Client = alone(network.url, {
    onSignInRequired: () => {
      asked += 1;
      return answer(client);
    },
  });
  await client.session.register(name, PASSWORD);
  network.intercept = (method, path) => {
    const index = refused.findIndex((call) => call.test(`${method} ${path}`));
    if (index < 0) return undefined;
    refused.splice(index, 1);
    return REFUSAL;
  };
  return { client, network, name, asked: () => asked };
}

test("a call is sent once more with the password, whether it has a body or not", async (context) => {
  const calls = [/^POST \/v1\/me\/recovery-code/, /^PATCH \/v1\/me$/, /^DELETE \/v1\/me$/];
  const { client, network, name, asked } = await account(context, async () => ({ password: PASSWORD }), calls);
  const before = client.session.recoveryCode();
  assert.notEqual(await client.session.renewRecoveryCode(), before);
  const tokens = await client.session.token();
  await client.session.changePassword(PASSWORD);
  assert.notEqual(await client.session.token(), tokens);
  await alone(network.url).session.signIn(name, PASSWORD);
  assert.equal((await client.api.DELETE("/v1/me")).response.status, 204);
  assert.equal(asked(), 3);
  assert.deepEqual([network.count("POST", /recovery-code/), network.count("PATCH", /me$/), network.count("DELETE", /me$/)], [2, 2, 2]);
});

test("the player may sign in again instead, and takes as long as it needs", async (context) => {
  const answer = async (client: Client): Promise<Confirmation> => {
    // Longer than a call may take.
    await new Promise((resolve) => setTimeout(resolve, 2500));
    await client.session.signIn(client.session.current()?.player.name ?? "", PASSWORD);
    return "signed-in";
  };
  const { client, network, asked } = await account(context, answer, [/recovery-code/, /^PATCH/]);
  const before = client.session.current()?.signInId;
  await Promise.all([client.session.renewRecoveryCode(), client.session.changePassword(PASSWORD)]);
  assert.notEqual(client.session.current()?.signInId, before);
  assert.equal(asked(), 1, "calls at the same time ask once");
  assert.equal(network.count("PATCH", /me$/), 2);
});

test("without an answer, with a wrong one and as another player the call fails once", async (context) => {
  const other = unique("Bo");
  const answers: ((client: Client) => Promise<Confirmation | null>)[] = [
    async () => null,
    async () => ({ password: "a wrong passphrase" }),
    async () => ({ password: PASSWORD }),
    async (client) => {
      await client.session.signIn(other, PASSWORD);
      return "signed-in";
    },
  ];
  const answer = async (client: Client) => (await answers.shift()?.(client)) ?? null;
  const { client, network } = await account(context, answer, [/recovery-code/, /recovery-code/]);
  await alone(network.url).session.register(other, PASSWORD);
  const codes = [];
  for (let n = 0; n < 2; n += 1) codes.push((await failureOf(client.session.renewRecoveryCode())).code);
  // Refused again, the call is not sent a third time.
  network.intercept = (_, path) => (path.endsWith("recovery-code") ? REFUSAL : undefined);
  for (let n = 0; n < 2; n += 1) codes.push((await failureOf(client.session.renewRecoveryCode())).code);
  assert.deepEqual(codes, ["recent_sign_in_required", "invalid_credentials", "recent_sign_in_required", "recent_sign_in_required"]);
  assert.equal(network.count("POST", /recovery-code/), 6);
});
