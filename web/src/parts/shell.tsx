// What lies around every view: the head of the page, its messages, and the state of the connection.

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { cx } from "../cx.ts";
import { visits } from "../router.ts";
import { dismiss, messages } from "../state/messages.ts";
import { network } from "../state/network.ts";
import { queued } from "../state/queue.ts";
import { me } from "../state/session.ts";
import { t } from "../texts/index.ts";
import { PasswordQuestion } from "./confirm.tsx";
import * as css from "./shell.module.css";
import * as ui from "./ui.module.css";

export function Shell({ children }: { children: ComponentChildren }) {
  const main = useRef<HTMLElement>(null);
  // Not by the address: its fragment may be an invitation, or the ply of a review.
  const skip = (event: Event) => {
    event.preventDefault();
    main.current?.focus();
  };
  return (
    <>
      <a class={css.skip} href="#main" onClick={skip}>
        {t("nav.skip")}
      </a>
      <header class={css.head}>
        <nav aria-label={t("nav.label")}>
          <a class={css.brand} href="/">
            <svg viewBox="0 0 28 28" aria-hidden="true">
              <circle class={css.bowl} cx="14" cy="14" r="13" />
              <circle class={css.bean} cx="10.5" cy="11" r="3.6" />
              <circle class={css.bean} cx="17.5" cy="11.5" r="3.6" />
              <circle class={css.bean} cx="14" cy="17.5" r="3.6" />
            </svg>
            Mancala
          </a>
          <a href="/lobby">{t("nav.lobby")}</a>
          <a href="/rules">{t("nav.rules")}</a>
          {me.value && (
            <a class={css.wide} href="/games">
              {t("nav.games")}
            </a>
          )}
          <a class={css.person} href="/account">
            <bdi>{me.value ? me.value.name : t("nav.account")}</bdi>
          </a>
        </nav>
      </header>
      <Connection />
      <main id="main" ref={main} tabIndex={-1}>
        {children}
      </main>
      <Messages />
      <PasswordQuestion />
      <footer class={css.foot}>
        <a href="/settings">{t("nav.settings")}</a>
        <a href="/docs/">{t("nav.api")}</a>
      </footer>
    </>
  );
}

function Connection() {
  const state = network.value;
  const waiting = queued.value.length;
  return (
    <div role="status" class={css.connection}>
      {state === "offline" && t(waiting > 0 ? "network.offline-queued" : "network.offline", { count: waiting })}
      {state === "trouble" && t("network.trouble")}
    </div>
  );
}

function Messages() {
  return (
    <div class={css.messages} role="log" aria-live="assertive" aria-label={t("messages.label")}>
      {messages.value.map(({ id, text, kind, action }) => (
        <div key={id} data-kind={kind} class={cx(css.message, kind === "error" && css.error)}>
          <span>{text}</span>
          {action && (
            <button type="button" class={ui.plain} onClick={action.run}>
              {action.label}
            </button>
          )}
          <button type="button" class={ui.plain} aria-label={t("messages.dismiss")} onClick={() => dismiss(id)}>
            ×
          </button>
        </div>
      ))}
    </div>
  );
}

/** The heading of a view. It takes the focus when the view is navigated to, so that a screen reader says where it is. */
export function Heading({ children, title }: { children: ComponentChildren; title: string }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = title === "Mancala" ? title : `${title} · Mancala`;
  }, [title]);
  useEffect(() => {
    if (visits.value > 0) heading.current?.focus({ preventScroll: true });
  }, [visits.value]);
  return (
    <h1 ref={heading} tabIndex={-1}>
      {children}
    </h1>
  );
}
