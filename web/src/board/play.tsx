// A board on which moves are chosen: a pit, and where several moves begin with it, which of them. It knows no rule of a game.

import { useEffect, useRef, useState } from "preact/hooks";
import * as ui from "../parts/ui.module.css";
import { settings } from "../state/settings.ts";
import { t, word } from "../texts/index.ts";
import { type Action, actionOf, actionsOf, movesAt, pitsOfMoves, specialOf } from "./actions.ts";
import * as css from "./board.module.css";
import { Board, type BoardProps, ratioOf, useShape } from "./board.tsx";
import { besideInRing, pitsOf, type Shape, type Spot, sideOf } from "./shape.ts";

export interface PlayBoardProps extends Omit<BoardProps, "legal" | "pending" | "hinted" | "chosen" | "onPick" | "onPoint"> {
  /** What may be played now. */
  moves: readonly string[];
  /** A move that is not confirmed yet. */
  sent?: string | null;
  /** The move that a hint names. */
  hintedMove?: string | null;
  onPlay(move: string): void;
  /** The move that the pointer or the focus is on. */
  onPointAt(move: string | null): void;
}

export function PlayBoard({ moves, sent, hintedMove, onPlay, onPointAt, ...props }: PlayBoardProps) {
  const { board, ply } = props;
  const root = useRef<HTMLDivElement>(null);
  const isArranging = useRef(false);
  const [chosen, setChosen] = useState<{ pit: string; ply: number | undefined } | null>(null);
  const pit = chosen && chosen.ply === ply && movesAt(moves, chosen.pit).length > 1 ? chosen.pit : null;
  const focusPit = (place: string) => root.current?.querySelector<HTMLElement>(`[data-pit="${place}"]`)?.focus();
  const play = (move: string) => {
    setChosen(null);
    onPlay(move);
  };
  // The buttons of a choice go with it, so the focus returns to the board before.
  const playFromPanel = (move: string) => {
    focusPit(board.pending?.pit ?? actionOf(move)?.pit ?? "");
    play(move);
  };
  // The pit that a finger has touched once, where a second touch plays it.
  const touched = useRef<string | null>(null);
  const pick = (place: string, isTouch: boolean) => {
    const [only, ...others] = movesAt(moves, place);
    const isFirst = isTouch && settings.value.tap === "show" && touched.current !== `${place} ${ply}`;
    touched.current = `${place} ${ply}`;
    if (only !== undefined && others.length === 0) return isFirst ? onPointAt(only) : play(only);
    setChosen({ pit: place, ply });
    focusFirst(root.current);
  };
  const numbers = actionsOf(moves).filter(({ count }) => count !== null);
  const shape = useShape(props);
  const panel = { shape, board, hintedMove, onPlay: playFromPanel, onPointAt };
  return (
    <div class={css.play} style={ratioOf(shape)} ref={root}>
      <Board
        {...props}
        legal={pitsOfMoves(moves)}
        chosen={pit ?? board.chosen ?? null}
        pending={sent ? (actionOf(sent)?.pit ?? null) : null}
        hinted={hintedMove ? (actionOf(hintedMove)?.pit ?? null) : null}
        onPick={pick}
        onPoint={(place) => onPointAt(place === null ? null : onlyOf(movesAt(moves, place)))}
      />
      {numbers[0] ? (
        <Arrange key={numbers[0].pit} actions={numbers} board={board} again={isArranging} onPlay={play} />
      ) : board.pending && moves.length > 0 ? (
        <Ways key={`${board.pending.pit}${ply}`} {...panel} moves={moves} isOpen title={openInWords(board.pending)} />
      ) : (
        pit !== null && (
          <Ways
            {...panel}
            key={pit}
            moves={movesAt(moves, pit)}
            title={t(isOfCapture(movesAt(moves, pit)) ? "choice.ask-capture" : "choice.ask", { pit })}
            onCancel={() => {
              setChosen(null);
              focusPit(pit);
            }}
          />
        )
      )}
    </div>
  );
}

/** Whether the moves of a pit differ in whether they capture. */
const isOfCapture = (moves: readonly string[]) => actionsOf(moves).some(({ isDeclined }) => isDeclined);

const onlyOf = (moves: readonly string[]) => (moves.length === 1 ? (moves[0] ?? null) : null);

/** Focuses the first field or button of a choice that is open already. One that opens takes the focus itself. */
function focusFirst(root: HTMLElement | null): void {
  root?.querySelector<HTMLElement>("[data-choice] input, [data-choice] button")?.focus();
}

function openInWords({ pit, seeds }: { pit: string; seeds: number }): string {
  return seeds > 0 ? t("choice.open-hand", { pit, count: seeds }) : t("choice.open", { pit });
}

interface WaysProps {
  shape: Shape;
  board: BoardProps["board"];
  moves: readonly string[];
  title: string;
  /** Whether the choice is one inside a turn: it is there by itself, and leaves the focus where it is. */
  isOpen?: boolean;
  hintedMove: string | null | undefined;
  onPlay(move: string): void;
  onPointAt(move: string | null): void;
  onCancel?(): void;
}

/** The moves to choose from: for each direction a button, or one to capture and one to leave the seeds, and for each move without a pit. */
function Ways({ shape, board, moves, title, isOpen = false, hintedMove, onPlay, onPointAt, onCancel }: WaysProps) {
  const panel = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isOpen) panel.current?.scrollIntoView({ block: "nearest" });
    else panel.current?.querySelector("button")?.focus();
  }, []);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || !onCancel) return;
    event.preventDefault();
    onCancel();
  };
  const isArrows = !isOfCapture(moves);
  const [pit] = pitsOfMoves(moves);
  const button = (move: string, label: preact.ComponentChildren, place = {}) => (
    <button
      key={move}
      type="button"
      data-move={move}
      {...place}
      onClick={() => onPlay(move)}
      onFocus={() => onPointAt(move)}
      onBlur={() => onPointAt(null)}
      onMouseEnter={() => onPointAt(move)}
      onMouseLeave={() => onPointAt(null)}
    >
      {hintedMove === move && <span aria-hidden="true">★ </span>}
      {label}
    </button>
  );
  const at = pit === undefined ? undefined : shape.spots.get(pit);
  if (isArrows && at) {
    return (
      <div class={`${css.ways} ${css.arrows}`} data-choice="arrows" ref={panel} role="group" aria-label={title} onKeyDown={onKeyDown}>
        <p>{title}</p>
        {actionsOf(moves).map((action) => {
          const next = shape.spots.get(besideInRing(board, action.pit, action.isUpward)) ?? at;
          return button(action.move, <Way action={action} board={board} shape={shape} />, { "data-way": "", style: placeOf(shape, next) });
        })}
        {specialOf(moves).map((move) =>
          button(move, isOpen && move === "pass" ? t("choice.stop") : word("special", move), { "data-way": "turn", style: placeOf(shape, at, 1.5) }),
        )}
        {onCancel && (
          <button type="button" data-way="" aria-label={t("ui.cancel")} style={placeOf(shape, at)} onClick={onCancel}>
            ×
          </button>
        )}
      </div>
    );
  }
  return (
    <div class={css.ways} data-choice="panel" ref={panel} role="group" aria-label={title} onKeyDown={onKeyDown}>
      <p>{title}</p>
      <div class={ui.row}>
        {actionsOf(moves).map((action) => button(action.move, t(action.isDeclined ? "choice.decline" : "choice.capture")))}
        {specialOf(moves).map((move) => button(move, isOpen && move === "pass" ? t("choice.stop") : word("special", move)))}
        {onCancel && (
          <button type="button" class={ui.plain} onClick={onCancel}>
            {t("ui.cancel")}
          </button>
        )}
      </div>
    </div>
  );
}

/** Where a button lies upon the board: at a spot, or so many of its heights below, or above if there is no room. */
function placeOf({ width, height }: Shape, { x, y, ry }: Spot, below = 0): Record<string, string> {
  const down = y + 2 * below * ry;
  return { left: `${((100 * x) / width).toFixed(3)}%`, top: `${((100 * (down < height ? down : y - 2 * below * ry)) / height).toFixed(3)}%` };
}

/** A direction: an arrow as the board is drawn, and the pit where the first seed falls. */
function Way({ action, board, shape }: { action: Action; board: BoardProps["board"]; shape: Shape }) {
  const next = besideInRing(board, action.pit, action.isUpward);
  return (
    <>
      <span aria-hidden="true">{arrowOf(shape, action.pit, next)} </span>
      <span class={css.words}>{t("choice.towards", { pit: next })}</span>
    </>
  );
}

function arrowOf(shape: Shape, from: string, to: string): string {
  const [begin, end] = [shape.spots.get(from), shape.spots.get(to)];
  if (!begin || !end) return "";
  const [right, down] = [end.x - begin.x, end.y - begin.y];
  if (Math.abs(right) > Math.abs(down)) return right > 0 ? "→" : "←";
  return down > 0 ? "↓" : "↑";
}

interface ArrangeProps {
  actions: readonly Action[];
  board: BoardProps["board"];
  /** Whether the pit before was filled here: then the focus stays in the field. */
  again: { current: boolean };
  onPlay(move: string): void;
}

/** How many seeds are put down in a pit. */
function Arrange({ actions, board, again, onPlay }: ArrangeProps) {
  const { pit = "" } = actions[0] ?? {};
  const most = Math.max(...actions.map(({ count }) => count ?? 0));
  const pits = pitsOf(board, sideOf(pit));
  const [filled, setFilled] = useState(String(Math.round(most / Math.max(1, pits.length - pits.indexOf(pit)))));
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (again.current && document.activeElement === document.body) field.current?.focus();
    again.current = false;
  }, []);
  const action = actions.find(({ count }) => String(count) === filled.trim());
  const put = (event: Event) => {
    event.preventDefault();
    if (!action) return field.current?.focus();
    again.current = true;
    onPlay(action.move);
  };
  return (
    <form class={css.ways} data-choice="panel" noValidate aria-label={t("arrange.title")} onSubmit={put}>
      <label for="arrange-seeds">{t("arrange.seeds", { pit })}</label>
      <div class={ui.row}>
        <input
          id="arrange-seeds"
          ref={field}
          type="number"
          inputMode="numeric"
          min={0}
          max={most}
          step={1}
          value={filled}
          aria-invalid={!action}
          aria-describedby="arrange-left"
          autoComplete="off"
          onInput={(event) => setFilled(event.currentTarget.value)}
        />
        <button type="submit">{t("arrange.put")}</button>
      </div>
      <small id="arrange-left">{t("arrange.left", { count: most })}</small>
    </form>
  );
}
