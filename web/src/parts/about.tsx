// What a game is played by, in one line: the rules, the clock and the own side. Its options are in a sheet.

import type { Game, Side } from "@mancala-server/client";
import { useRef, useState } from "preact/hooks";

import { variants } from "../state/create.ts";
import { clockInWords } from "../texts/format.ts";
import { t } from "../texts/index.ts";
import { later } from "../views/later.tsx";
import * as css from "./game.module.css";
import * as sheets from "./sheet.module.css";
import * as ui from "./ui.module.css";

const GameOptions = later(async () => (await import("./options.tsx")).GameOptions);

export function AboutGame({ game }: { game: Game }) {
  const sheet = useRef<HTMLDialogElement>(null);
  const [isOpen, setOpen] = useState(false);
  const open = () => {
    setOpen(true);
    sheet.current?.showModal();
  };
  const close = () => sheet.current?.close();
  const line = aboutInWords(game);
  return (
    <>
      <button type="button" class={css.about} aria-haspopup="dialog" onClick={open}>
        {line}
      </button>
      <dialog
        ref={sheet}
        class={sheets.sheet}
        aria-label={t("about.title")}
        onClick={({ target }) => target === sheet.current && close()}
        onClose={() => setOpen(false)}
      >
        <h2>{t("about.title")}</h2>
        <p>{line}</p>
        {isOpen && <GameOptions game={game} />}
        <div class={ui.row}>
          <a class={ui.button} href={`/rules/${game.variant}`}>
            {t("nav.rules")}
          </a>
          <button type="button" onClick={close}>
            {t("about.close")}
          </button>
        </div>
      </dialog>
    </>
  );
}

/** The rules, the clock and the own side. */
export function aboutInWords(game: Game): string {
  return [presetOf(game), clockInWords(game.clock), sideInWords(game)].filter(Boolean).join(" · ");
}

/** The preset's title, and whether options differ from it; nothing while the server's list does not say. */
export function presetOf({ variant, preset, options }: Game): string {
  const found = variants.value.find(({ name }) => name === variant)?.presets.find(({ name }) => name === preset);
  if (!found) return "";
  const isChanged = Object.entries(found.options ?? {}).some(([name, value]) => Object.hasOwn(options, name) && options[name] !== value);
  return isChanged ? t("about.changed", { preset: found.title }) : found.title;
}

function sideInWords({ me, opponent, seats, status }: Game): string {
  if (opponent.type === "self") return t("row.self");
  if (me?.side) return t("about.side", { side: t(`side.${me.side}`) });
  const free = (["south", "north"] as const).find((side: Side) => !seats[side]);
  return status === "open" && free ? t("about.free-side", { side: t(`side.${free}`) }) : "";
}
