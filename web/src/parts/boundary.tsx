// What is shown where a view fails, so that the page is never blank.

import { Component, type ComponentChildren } from "preact";

import { forgetAll } from "../state/kept.ts";
import { t } from "../texts/index.ts";
import { Heading } from "./shell.tsx";
import * as ui from "./ui.module.css";

/** The mark of a tab that has loaded anew, and when it did. */
const MARK = "mancala.reloaded";

/** A view that fails so soon again fails for another reason. */
const AGAIN_MS = 60_000;

// Whether this tab has not loaded anew just now. Without a storage that cannot be known, so it never does.
function isFirst(): boolean {
  try {
    const before = Number(sessionStorage.getItem(MARK));
    sessionStorage.setItem(MARK, String(Date.now()));
    return Date.now() - before > AGAIN_MS;
  } catch {
    return false;
  }
}

interface State {
  error: unknown;
}

/**
 * Shows its children, or that they have failed. What is kept in the browser may be the cause, and the server has all of it: so it
 * is forgotten, and the page loads anew, once.
 */
export class Boundary extends Component<{ children: ComponentChildren }, State> {
  override state: State = { error: null };

  static override getDerivedStateFromError(error: unknown): State {
    return { error: error ?? new Error("unknown") };
  }

  override componentDidCatch(error: unknown): void {
    console.error(error);
    forgetAll();
    if (isFirst()) location.reload();
  }

  override render() {
    if (this.state.error === null) return this.props.children;
    return (
      <div class={ui.narrow}>
        <Heading title={t("failure.page")}>{t("failure.page")}</Heading>
        <p class={ui.row}>
          <button type="button" class={ui.primary} onClick={() => location.reload()}>
            {t("update.reload")}
          </button>
          {/* The router leaves links with a target to the browser, which loads the page anew. */}
          <a class={ui.button} href="/" target="_self">
            {t("nav.home")}
          </a>
        </p>
      </div>
    );
  }
}
