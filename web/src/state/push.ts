// Notifications on this device while the page is closed (Web Push). The browser's subscription says whether they are on; the server
// sends to the player who has registered it last.

import { effect, signal } from "@preact/signals";

import { client } from "../client.ts";
import { spoken, t } from "../texts/index.ts";
import { ask } from "./ask.ts";
import { keepValue, keptValue } from "./kept.ts";
import { say } from "./messages.ts";
import { departures, ensurePlayer, me } from "./session.ts";

/** Where the server's id of this device is kept. */
const DEVICE = "device";

/** How long signing out waits for the server to remove the device. */
const REMOVAL_MS = 5000;

/** Whether this browser has a subscription. */
export const isNotified = signal(false);

/** Whether this browser has notifications at all: a private window may have none. */
const hasPush = () => "PushManager" in window && "serviceWorker" in navigator;

/** The server's key to subscribe with; null if the server or the browser has no notifications. */
export async function findKey(): Promise<string | null> {
  if (!hasPush()) return null;
  await navigator.serviceWorker.ready;
  const { web } = await ask(client.api.GET("/v1/push"));
  return web?.public_key ?? null;
}

/** Asks the player for permission, subscribes, and registers the subscription. */
export async function notify(key: string): Promise<void> {
  if ((await Notification.requestPermission()) !== "granted") return say(t("settings.push-denied"), "error");
  await ensurePlayer();
  // One that is left may have another key.
  await unsubscribe();
  const { pushManager } = await navigator.serviceWorker.ready;
  try {
    await register(await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key }));
  } catch (error) {
    await unsubscribe();
    if (!(error instanceof DOMException)) throw error;
    say(t("settings.push-failed"), "error");
  }
}

/** Ends the notifications. If the server cannot be reached, the push service tells it that the subscription is gone. */
export async function silence(): Promise<void> {
  const id = keptValue<string>(DEVICE);
  await unsubscribe();
  if (id === null) return;
  const params = { path: { device_id: id } };
  await ask(client.api.DELETE("/v1/me/devices/{device_id}", { params, signal: AbortSignal.timeout(REMOVAL_MS) })).catch(() => undefined);
}

/**
 * Registers the subscription again at each start, in another language and after a new password, with which the server forgets devices. Ends
 * it when its player leaves this device.
 */
export function startPush(): void {
  if (!hasPush()) return;
  let before = client.session.current();
  client.session.onChange(() => {
    const now = client.session.current();
    const isNewSignIn = before?.player.id === now?.player.id && before?.signInId !== now?.signInId;
    before = now;
    if (isNewSignIn) void renew().catch(() => undefined);
  });
  effect(() => {
    if (departures.value > 0) void unsubscribe().catch(() => undefined);
  });
  effect(() => {
    if (spoken.value && me.peek()) void renew().catch(() => undefined);
  });
}

async function renew(): Promise<void> {
  const subscription = await find();
  if (subscription) await register(subscription);
}

async function register(subscription: PushSubscription): Promise<void> {
  const player = me.value?.id;
  isNotified.value = true;
  const { endpoint, keys } = subscription.toJSON() as { endpoint: string; keys: { p256dh: string; auth: string } };
  const { id } = await ask(client.api.POST("/v1/me/devices", { body: { kind: "web", subscription: { endpoint, keys }, language: spoken.value } }));
  // The player may have left meanwhile.
  if (me.value?.id === player) keepValue(DEVICE, id);
  else await unsubscribe();
}

/** The browser's subscription. Without a service worker there is none. */
async function find(): Promise<PushSubscription | null> {
  if (!hasPush()) return null;
  const registration = await navigator.serviceWorker.getRegistration();
  return registration?.pushManager.getSubscription() ?? null;
}

async function unsubscribe(): Promise<void> {
  isNotified.value = false;
  await (await find())?.unsubscribe();
}
