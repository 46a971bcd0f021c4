// Starts the page.

// The styles of elements come first, then those of small pieces and of boards: what a view says of them holds.
import "./styles/base.css";
import "./parts/ui.module.css";
import "./board/board.module.css";
import { render } from "preact";

import { App } from "./app.tsx";
import { startRouter } from "./router.ts";
import { readVariants } from "./state/create.ts";
import { tidy } from "./state/kept.ts";
import { say } from "./state/messages.ts";
import { startPush } from "./state/push.ts";
import { startQueue } from "./state/queue.ts";
import { followTheme, settings } from "./state/settings.ts";
import { speak, t } from "./texts/index.ts";

/** A page that was loaded anew a moment ago is not loaded once more. */
const RELOAD_MS = 30_000;

// A file of a release that is gone: the page of the present release has its own.
addEventListener("vite:preloadError", () => {
  if (navigator.onLine && performance.now() > RELOAD_MS) location.reload();
});

tidy();
followTheme();
startRouter();
// Awaited here, a catalogue would wait for the file that it imports from, which is this one.
void speak(settings.value.language).then(start);

function start(): void {
  startQueue();
  startPush();
  void readVariants();
  const page = document.getElementById("page");
  if (page) {
    // What the document has shown until now.
    page.replaceChildren();
    render(<App />, page);
  }
  void install();
}

/** The address of the service worker, as browsers with Trusted Types want it: by the one policy that the server allows. */
function workerAddress(): string {
  const address = "/sw.js";
  const { trustedTypes } = window as { trustedTypes?: { createPolicy(name: string, rules: object): Policy } };
  type Policy = { createScriptURL(text: string): string };
  return trustedTypes?.createPolicy("service-worker", { createScriptURL: () => address }).createScriptURL(address) ?? address;
}

/** Keeps the page for times without a network, and offers a new release when there is one. */
async function install(): Promise<void> {
  if (!("serviceWorker" in navigator) || !import.meta.env.PROD) return;
  try {
    const registration = await navigator.serviceWorker.register(workerAddress());
    const offer = () => {
      const { waiting } = registration;
      if (!waiting || !navigator.serviceWorker.controller) return;
      navigator.serviceWorker.addEventListener("controllerchange", () => location.reload(), { once: true });
      say(t("update.there"), "note", { label: t("update.reload"), run: () => waiting.postMessage("activate") });
    };
    offer();
    registration.addEventListener("updatefound", () => {
      const { installing } = registration;
      installing?.addEventListener("statechange", () => installing.state === "installed" && offer());
    });
  } catch (error) {
    // Without https, or in a private window. The page works, but only with a network.
    console.warn("the page cannot be installed", error);
  }
}
