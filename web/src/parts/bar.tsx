// The bar of a game: what goes on, and what can be done now. On phones it is at the lower edge, and all else is behind "⋯".

import type { Game } from "@mancala-server/client";
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";

import { specialOf } from "../board/actions.ts";
import { client, SOON } from "../client.ts";
import { cx } from "../cx.ts";
import { again } from "../state/create.ts";
import type { GameStore } from "../state/game.ts";
import { t, word } from "../texts/index.ts";
import { canRepeat } from "./controls.tsx";
import * as css from "./game.module.css";
import * as sheets from "./sheet.module.css";
import * as ui from "./ui.module.css";
import { Action } from "./ui.tsx";

export interface BarProps {
  store: GameStore;
  game: Game;
  /** Whether the card with the result says what comes next. */
  hasCard: boolean;
  /** What is said of the game. */
  children: ComponentChildren;
  /** What is behind "⋯"; null where there is room for it elsewhere. */
  more: ComponentChildren;
}

export function Bar({ store, game, hasCard, children, more }: BarProps) {
  const actions = game.me?.actions ?? [];
  const { practice } = game;
  return (
    <div class={css.actions}>
      <div class={css.says}>{children}</div>
      <div class={css.slots}>
        <SpecialMoves store={store} />
        {!hasCard && <Next game={game} />}
        {practice && (
          <Slot icon="★" isThere={actions.includes("hint")} isDisabled={store.unconfirmed.value.length > 0} run={() => store.askHint()}>
            {t("hint.ask")}
          </Slot>
        )}
        {practice && (
          // In practice the computer agrees at once.
          <Slot icon="↶" isThere={actions.includes("offer_takeback")} run={() => store.act(() => client.games.offer(game.id, "takeback", SOON))}>
            {t("practice.takeback")}
          </Slot>
        )}
        {store.playback.isMoving.value ? (
          <Slot icon="»" isThere run={async () => store.playback.skip()}>
            {t("controls.skip")}
          </Slot>
        ) : (
          <Slot icon="↻" isThere={game.ply > 0} run={() => store.replay()}>
            {t("controls.replay")}
          </Slot>
        )}
        {more !== null && <More>{more}</More>}
      </div>
    </div>
  );
}

interface SlotProps {
  /** What stands for the words where there is no room for them. */
  icon: string;
  /** Whether the button can be used now. Its place stays. */
  isThere: boolean;
  isDisabled?: boolean;
  children: string;
  run(): Promise<unknown>;
}

function Slot({ icon, isThere, isDisabled = false, children, run }: SlotProps) {
  return (
    <Action place={cx(css.slot, !isThere && css.absent)} isDisabled={isDisabled} run={run}>
      <span class={css.icon} aria-hidden="true">
        {icon}
      </span>
      <span class={css.words}>{children}</span>
    </Action>
  );
}

/** Moves that are no pits: to pass, to change seats. Those of a choice inside a turn are beside the board. */
function SpecialMoves({ store }: { store: GameStore }) {
  const special = store.now.value?.board.pending ? [] : specialOf(store.legal.value);
  return (
    <>
      {special.map((move) => (
        <button key={move} type="button" class={ui.primary} onClick={() => void store.play(move)}>
          {store.hint.value?.move === move && <span aria-hidden="true">★ </span>}
          {word("special", move)}
        </button>
      ))}
    </>
  );
}

/** The game after one that is over. */
function Next({ game }: { game: Game }) {
  if (game.rematch_game_id) {
    return (
      <a class={`${ui.button} ${ui.primary}`} href={`/games/${game.rematch_game_id}`}>
        {t("controls.to-rematch")}
      </a>
    );
  }
  if (!canRepeat(game)) return null;
  return (
    <Action kind="primary" run={() => again(game)}>
      {t("controls.again")}
    </Action>
  );
}

/** A sheet with what is seldom done. It closes after each choice. */
function More({ children }: { children: ComponentChildren }) {
  const sheet = useRef<HTMLDialogElement>(null);
  const close = () => sheet.current?.close();
  const onClick = (event: MouseEvent) => {
    const { target } = event;
    // A touch beside the sheet is one of the dialog itself. A question within the sheet closes it when it is answered.
    const isQuestion = target instanceof Element && target.nextElementSibling?.tagName === "DIALOG";
    if (target === sheet.current || (target instanceof Element && target.closest("dialog") === sheet.current && target.closest("a, button") && !isQuestion))
      close();
  };
  // The types of Preact do not know that an end of a question is seen on its way down.
  const closing = { onCloseCapture: close };
  return (
    <>
      <button type="button" class={css.slot} aria-haspopup="dialog" aria-label={t("controls.more")} onClick={() => sheet.current?.showModal()}>
        ⋯
      </button>
      <dialog ref={sheet} class={sheets.sheet} aria-label={t("controls.label")} onClick={onClick} {...closing}>
        {children}
      </dialog>
    </>
  );
}
