// The player's own note on the ply that is shown, and where the others are.

import { useState } from "preact/hooks";
import * as ui from "../../parts/ui.module.css";
import { Action } from "../../parts/ui.tsx";
import { t } from "../../texts/index.ts";
import { NOTE_MAX } from "./notes-store.ts";
import * as css from "./review.module.css";
import type { ReviewStore } from "./store.ts";

export function NotePanel({ store }: { store: ReviewStore }) {
  const { notes } = store;
  const { value: ply } = store.ply;
  const { value: texts } = notes.texts;
  const [, redraw] = useState(0);
  const [saved, setSaved] = useState<number | null>(null);
  const others = [...texts.values()].filter((note) => note.ply !== ply);
  const isChanged = notes.isChanged(ply);
  const save = async () => {
    await notes.save(ply);
    setSaved(ply);
  };
  return (
    <section class={ui.card} aria-labelledby="note-title">
      <h2 id="note-title">{t("review.note")}</h2>
      <label class={ui.field} for="note-text">
        <span>{ply === 0 ? t("review.note-opening") : t("review.note-ply", { ply })}</span>
        <textarea
          id="note-text"
          dir="auto"
          rows={3}
          maxLength={NOTE_MAX}
          value={notes.draft(ply)}
          aria-describedby="note-state"
          onInput={(event) => {
            notes.write(ply, event.currentTarget.value);
            redraw((times) => times + 1);
          }}
        />
      </label>
      <div class={ui.row}>
        <Action run={save}>{t("review.note-save")}</Action>
        <small id="note-state" role="status">
          {isChanged ? t("review.note-unsaved") : saved === ply ? t("review.note-saved") : t("review.note-private")}
        </small>
      </div>
      {others.length > 0 && (
        <ul class={css.notes} aria-label={t("review.notes-other")}>
          {others.map((note) => (
            <li key={note.ply}>
              <button type="button" class={ui.plain} onClick={() => store.go(note.ply)}>
                {t("review.note-at", { ply: note.ply })}
              </button>{" "}
              <bdi>{note.text}</bdi>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
