// Asks for the password before a call that takes the account over, or ends it.

import type { Confirmation } from "@mancala-server/client";
import { useEffect, useRef, useState } from "preact/hooks";

import { question } from "../state/confirm.ts";
import { t } from "../texts/index.ts";
import * as ui from "./ui.module.css";
import { Field } from "./ui.tsx";

export function PasswordQuestion() {
  return question.value && <PasswordDialog answer={question.value} />;
}

function PasswordDialog({ answer }: { answer(answer: Confirmation | null): void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [password, setPassword] = useState("");
  useEffect(() => dialog.current?.showModal(), []);
  const end = (confirmation: Confirmation | null) => {
    // Closed before it goes, so that the focus returns to where it was.
    dialog.current?.close();
    answer(confirmation);
  };
  const submit = (event: Event) => {
    event.preventDefault();
    end({ password });
  };
  return (
    <dialog ref={dialog} aria-labelledby="confirm-title" onClose={() => answer(null)}>
      <form onSubmit={submit}>
        <h2 id="confirm-title">{t("confirm.title")}</h2>
        <p>{t("confirm.text")}</p>
        <Field
          id="current-password"
          type="password"
          label={t("account.password")}
          value={password}
          autoComplete="current-password"
          isRequired
          onInput={setPassword}
        />
        <div class={`${ui.row} ${ui.end}`}>
          <button type="button" class={ui.plain} onClick={() => end(null)}>
            {t("ui.cancel")}
          </button>
          <button type="submit" class={ui.primary}>
            {t("confirm.go-on")}
          </button>
        </div>
      </form>
    </dialog>
  );
}
