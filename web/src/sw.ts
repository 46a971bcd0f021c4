// The service worker: it keeps the page's own files, so that the page opens without a network, and shows notifications. It never answers for the API.
// The build replaces __FILES__ and __RELEASE__.

declare const self: ServiceWorkerGlobalScope;
declare const __FILES__: string[];
declare const __RELEASE__: string;

// The types of a service worker clash with those of a page, so the few that are used are declared here.
interface ServiceWorkerGlobalScope {
  addEventListener(type: "install" | "activate", listener: (event: Extendable) => void): void;
  addEventListener(type: "fetch", listener: (event: Fetching) => void): void;
  addEventListener(type: "message", listener: (event: { data: unknown }) => void): void;
  addEventListener(type: "push", listener: (event: Pushed) => void): void;
  addEventListener(type: "notificationclick", listener: (event: Clicked) => void): void;
  skipWaiting(): Promise<void>;
  clients: { claim(): Promise<void>; matchAll(): Promise<Shown[]>; openWindow(path: string): Promise<unknown> };
  location: Location;
  registration: ServiceWorkerRegistration;
}
interface Extendable {
  waitUntil(promise: Promise<unknown>): void;
}
interface Fetching extends Extendable {
  request: Request;
  respondWith(answer: Promise<Response>): void;
}

interface Pushed extends Extendable {
  data: { json(): Message };
}
interface Clicked extends Extendable {
  notification: Notification;
}
/** A window of the page. */
interface Shown {
  url: string;
  focus(): Promise<unknown>;
}
/** What the server sends: see docs/api.md#push-notifications. */
interface Message {
  title: string;
  body: string;
  tag: string;
  data: { game_id?: string };
}

const CACHE = `page-${__RELEASE__}`;

/** A file is the same for every request, whatever a proxy on the way says in `Vary`. */
const KEPT = { cacheName: CACHE, ignoreVary: true };

/** Addresses of the page itself. All others, such as the API and its documentation, go to the server. */
const PAGE = /^\/(?:new|lobby|account|settings|rules(?:\/[\w-]+)?|games(?:\/[^/]+)?|review\/[^/]+|explore\/[\w-]+)?$/;

/** How long a slow network may take before the kept page is shown. */
const PATIENCE_MS = 4000;

const OTHERS = ["/", "/manifest.webmanifest", "/icon.svg", "/icon-192.png"];

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll([...OTHERS, ...__FILES__])));
});

self.addEventListener("activate", (event) => {
  event.waitUntil(dropOld().then(() => self.clients.claim()));
});

// The page asks for this when the player wants the new release.
self.addEventListener("message", ({ data }) => {
  if (data === "activate") void self.skipWaiting();
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== "GET" || url.origin !== self.location.origin) return;
  if (request.mode === "navigate" && PAGE.test(url.pathname)) event.respondWith(page(request));
  else if (__FILES__.includes(url.pathname) || OTHERS.slice(1).includes(url.pathname)) event.respondWith(file(request));
});

// A later notification of a game takes the place of the earlier one, because of the tag, and is heard like the first.
self.addEventListener("push", (event) => {
  const { title, ...message } = event.data.json();
  const options = { ...message, icon: "/icon-192.png", renotify: true };
  event.waitUntil(self.registration.showNotification(title, options));
});

self.addEventListener("notificationclick", (event) => {
  const { notification } = event;
  const { game_id: id } = notification.data as Message["data"];
  notification.close();
  event.waitUntil(open(id === undefined ? "/" : `/games/${id}`));
});

/** Shows a window that has this address, or else a new one. */
async function open(path: string): Promise<void> {
  const there = (await self.clients.matchAll()).find(({ url }) => new URL(url).pathname === path);
  await (there ? there.focus() : self.clients.openWindow(path));
}

/** The document from the server, or the kept one if the server cannot be reached or fails. */
async function page(request: Request): Promise<Response> {
  const kept = await caches.match("/", KEPT);
  try {
    const response = await fetch(request, kept ? { signal: AbortSignal.timeout(PATIENCE_MS) } : {});
    return kept && response.status >= 500 ? kept : response;
  } catch (error) {
    if (kept) return kept;
    throw error;
  }
}

async function file(request: Request): Promise<Response> {
  return (await caches.match(request, KEPT)) ?? fetch(request);
}

async function dropOld(): Promise<void> {
  const names = await caches.keys();
  await Promise.all(names.filter((name) => name.startsWith("page-") && name !== CACHE).map((name) => caches.delete(name)));
}

export {};
