// Addresses of the page. The server answers each with the same document; see PAGE_ADDRESSES in crates/http/src/paths.rs.

import { computed, signal } from "@preact/signals";

/** What an address shows. */
export type Route =
  | { view: "home" }
  | { view: "new" }
  | { view: "lobby" }
  | { view: "account" }
  | { view: "settings" }
  | { view: "history" }
  | { view: "rules"; variant: string | null }
  | { view: "game"; id: string; joinCode: string | null }
  | { view: "review"; id: string }
  | { view: "explore"; variant: string }
  | { view: "unknown" };

/** A join code stands in the fragment, which no browser sends to a server or names to another page. */
const JOIN = /^#join=([\w-]{1,64})$/;

const PATTERNS: [RegExp, (parts: string[], hash: string) => Route][] = [
  [/^\/$/, () => ({ view: "home" })],
  [/^\/new$/, () => ({ view: "new" })],
  [/^\/lobby$/, () => ({ view: "lobby" })],
  [/^\/account$/, () => ({ view: "account" })],
  [/^\/settings$/, () => ({ view: "settings" })],
  [/^\/rules(?:\/([\w-]+))?$/, ([variant]) => ({ view: "rules", variant: variant ?? null })],
  [/^\/games$/, () => ({ view: "history" })],
  [/^\/games\/([^/]+)$/, ([id = ""], hash) => ({ view: "game", id, joinCode: JOIN.exec(hash)?.[1] ?? null })],
  [/^\/review\/([^/]+)$/, ([id = ""]) => ({ view: "review", id })],
  [/^\/explore\/([\w-]+)$/, ([variant = ""]) => ({ view: "explore", variant })],
];

/** The route of an address. */
export function routeOf(path: string, hash = ""): Route {
  for (const [pattern, route] of PATTERNS) {
    const found = pattern.exec(path);
    if (found) return route(found.slice(1), hash);
  }
  return { view: "unknown" };
}

const address = signal({ path: location.pathname, hash: location.hash });

/** What is shown now. */
export const route = computed(() => routeOf(address.value.path, address.value.hash));

/** Counts navigations, so that a view can take the focus once for each. */
export const visits = signal(0);

function arrive(): void {
  address.value = { path: location.pathname, hash: location.hash };
  visits.value += 1;
}

/** Goes to an address of the page. */
export function navigate(to: string, { replace = false } = {}): void {
  if (replace) history.replaceState(null, "", to);
  else history.pushState(null, "", to);
  arrive();
  scrollTo(0, 0);
}

/** Follows the browser's history, and links within the page. */
export function startRouter(): void {
  addEventListener("popstate", arrive);
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (!link || link.target || link.hasAttribute("download") || link.origin !== location.origin) return;
    if (routeOf(link.pathname).view === "unknown") return;
    event.preventDefault();
    if (link.href !== location.href) navigate(link.pathname + link.search + link.hash);
  });
}
