// The board: wood, hollows and seeds as a drawing, and over them a button for each pit. It knows no rule of a game.

import type { Board as BoardOf, Side } from "@mancala-server/client";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { cx } from "../cx.ts";
import { t } from "../texts/index.ts";
import * as css from "./board.module.css";
import { draw, type Seeds, settle, totalOf } from "./seeds.ts";
import { isBlocked, isHouse, isTuzdyk, type Layout, opposite, pitsOf, type Shape, type Spot, seedsIn, shapeOf, sideShapeOf } from "./shape.ts";

/** What a move did, or would do, to places of the board. */
export interface Marks {
  /** Where it began. */
  from: string | null;
  sown: ReadonlySet<string>;
  captured: ReadonlySet<string>;
  /** Where its last seed falls. */
  end: string | null;
}

export const NO_MARKS: Marks = { from: null, sown: new Set(), captured: new Set(), end: null };

export interface BoardProps {
  board: BoardOf;
  /** The side that sits at the bottom. */
  bottom: Side;
  /** How its pits are laid out; null where the variant is not known. */
  layout?: Layout | null;
  /** Whether it lies on every screen: a board that is small among other things is not shown upright. */
  isLying?: boolean;
  /** The pits that may be sown now. */
  legal?: readonly string[];
  marks?: Marks;
  preview?: Marks | null;
  /** A pit whose sowing was chosen and is not confirmed yet. */
  pending?: string | null;
  /** A pit that was chosen, and of which the direction is not. */
  chosen?: string | null;
  /** The pit that a hint names. */
  hinted?: string | null;
  /** Where the hand is, while seeds are in it, and how long they take from place to place. */
  hand?: string | null;
  frameMs?: number;
  /** The ply after which this is the board. */
  ply?: number;
  /** The seeds of the game, if some may be in the hand. */
  total?: number;
  /** The names of those who sit there, for a screen reader. */
  names?: Partial<Record<Side, string>>;
  /** A pit was chosen, with a finger or otherwise. */
  onPick?(pit: string, isTouch: boolean): void;
  /** A pit was chosen that cannot be played. */
  onRefuse?(pit: string): void;
  /** The pit that the pointer or the focus is on. */
  onPoint?(pit: string | null): void;
}

/** Narrow and tall screens show the board upright. */
const UPRIGHT = "(max-width: 560px) and (orientation: portrait)";

/** Phones on their side have room for longer pits. */
const ON_ITS_SIDE = "(max-width: 63.99rem) and (max-height: 37.5rem) and (orientation: landscape)";

/** Whether a media query holds now. */
export function useMatch(query: string): boolean {
  const [matches, setMatches] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const change = () => setMatches(list.matches);
    list.addEventListener("change", change);
    return () => list.removeEventListener("change", change);
  }, [query]);
  return matches;
}

/** Where the pits of a board are on this screen. */
export function useShape({ board, bottom, layout, isLying }: Pick<BoardProps, "board" | "bottom" | "layout" | "isLying">): Shape {
  const isNarrow = useMatch(UPRIGHT);
  const isUpright = isNarrow && !isLying;
  const { south, north } = board;
  const isOnItsSide = useMatch(ON_ITS_SIDE) && !isLying && south.reserve === undefined;
  const size = [south.pits.length, north.pits.length, south.reserve === undefined].join("/");
  const shape = () => (isOnItsSide ? sideShapeOf(board, bottom, layout ?? undefined) : shapeOf(board, bottom, isUpright, layout ?? undefined));
  return useMemo(shape, [size, bottom, isUpright, isOnItsSide, layout?.rows, layout?.first]);
}

/** The width of a board as a multiple of its height, for the styles that bound it. */
export function ratioOf({ width, height }: Shape): Record<string, string> {
  return { "--ratio": (width / height).toFixed(4) };
}

/** A board. With `onPick`, legal pits can be chosen. */
export function Board(props: BoardProps) {
  const { board } = props;
  const shape = useShape(props);
  const { isUpright } = shape;
  const isDeep = (isUpright ? (shape.rows[0]?.length ?? 0) : shape.rows.length) > 2;
  const seeds = useSeeds(board, props.total ?? totalOf(board));
  const slow = { "--frame": `${props.frameMs ?? 0}ms` };
  return (
    // The board has no reading direction: it is sown anticlockwise everywhere.
    <div
      class={cx(css.board, isUpright && css.upright, isDeep && css.deep)}
      dir="ltr"
      data-ply={props.ply}
      data-deep={isDeep || undefined}
      style={{ ...ratioOf(shape), ...slow }}
    >
      <svg viewBox={`0 0 ${shape.width} ${shape.height}`} aria-hidden="true" class={css.drawing}>
        <Wood shape={shape} />
        {[...shape.spots.values()].map((spot) => (
          <Hollow key={spot.place} spot={spot} props={props} />
        ))}
        <g>
          {draw(seeds, shape, props.hand ?? null).map(({ id, x, y, isHeld }) => (
            <g
              key={id}
              class={cx(css.seed, TONES[id % TONES.length], isHeld && css.held)}
              style={{ transform: `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)` }}
            >
              <use href="#seed" transform={`rotate(${(id * 67) % 180})`} />
            </g>
          ))}
        </g>
        <g class={css.counts}>
          {[...shape.spots.values()].map((spot) => (
            <Count key={spot.place} spot={spot} board={board} />
          ))}
          <HandCount board={board} shape={shape} />
        </g>
      </svg>
      <Pits shape={shape} props={props} />
    </div>
  );
}

/** The colours of seeds. */
const TONES = [css.tone0, css.tone1, css.tone2, css.tone3, css.tone4];

/** The seeds of a board, which keep their numbers from one board to the next. */
function useSeeds(board: BoardOf, total: number): Seeds {
  const kept = useRef<{ board: BoardOf; seeds: Seeds } | null>(null);
  if (kept.current?.board !== board) kept.current = { board, seeds: settle(kept.current?.seeds ?? null, board, total) };
  return kept.current.seeds;
}

function Wood({ shape: { width, height, isUpright } }: { shape: Shape }) {
  const lines = Array.from({ length: 9 }, (_, n) => (n + 1) / 10);
  const grain = isUpright
    ? lines.map((at, n) => `M${width * at} 30c${8 - n} ${height / 4} ${n - 6} ${height / 2} ${n % 3} ${height - 60}`)
    : lines.map((at, n) => `M30 ${height * at}c${width / 4} ${8 - n} ${width / 2} ${n - 6} ${width - 60} ${n % 3}`);
  return (
    <>
      <rect class={css.under} x="4" y="8" width={width - 8} height={height - 10} rx="46" />
      <rect class={cx(css.wood, isUpright && css.upright)} x="4" y="3" width={width - 8} height={height - 10} rx="46" />
      <path class={css.grain} d={grain.join("")} />
      <rect class={css.edge} x="6" y="5" width={width - 12} height={height - 14} rx="44" />
    </>
  );
}

function Hollow({ spot, props }: { spot: Spot; props: BoardProps }) {
  const { place, x, y, rx, ry, kind } = spot;
  const [marks, preview] = [props.marks ?? NO_MARKS, props.preview ?? NO_MARKS];
  const corner = kind === "pit" ? Math.min(rx, ry) : 40;
  const isLegal = props.onPick && props.legal?.includes(place);
  const next = cx(
    props.pending === place && css.pending,
    props.chosen === place && css.chosen,
    preview.end === place && css.ends,
    preview.captured.has(place) && css.taken,
    props.hinted === place && css.hinted,
  );
  const last = cx(marks.from === place && css.from, marks.sown.has(place) && css.sown, marks.captured.has(place) && css.captured);
  // The last move lies inside a pit that can be played, whose rim stays bright.
  const isInside = isLegal && next === "";
  const classes = cx(isBurnt(props.board, spot) && css.burnt, isLegal && css.legal, last, next);
  const box = (grow: number) => ({
    x: x - rx - grow,
    y: y - ry - grow,
    width: 2 * (rx + grow),
    height: 2 * (ry + grow),
    rx: corner + grow,
  });
  return (
    <g class={classes}>
      <rect class={css.rim} {...box(3)} />
      <rect class={css.hole} {...box(0)} />
      {isBurnt(props.board, spot) && <path class={css.cross} d={`M${x - 14} ${y - 14}l28 28m0-28l-28 28`} />}
      {isHouse(props.board, place) && <rect class={css.house} x={x - rx - 3} y={y - ry - 3} width={2 * rx + 6} height={2 * ry + 6} rx="6" />}
      {isBlocked(props.board, place) && <path class={css.bar} d={`M${x - rx} ${y - ry}l${2 * rx} ${2 * ry}m0-${2 * ry}l-${2 * rx} ${2 * ry}`} />}
      {isTuzdyk(props.board, place) && <path class={css.tuzdyk} d={`M${x} ${y - 15}l15 15-15 15-15-15z`} />}
      <rect class={cx(css.ring, isInside && css.inside)} {...box(isInside ? -6 : 3)} />
      {props.hinted === place && (
        <text class={css.star} x={x - rx + 8} y={y - ry + 10}>
          ★
        </text>
      )}
    </g>
  );
}

function Count({ spot, board }: { spot: Spot; board: BoardOf }) {
  const seeds = seedsIn(board, spot.place);
  return (
    <>
      <text class={cx(css.count, spot.kind === "store" ? css.store : seeds > 9 && css.long)} x={spot.count.x} y={spot.count.y}>
        {isBurnt(board, spot) ? "–" : seeds}
      </text>
      {spot.kind === "pit" && (
        <text class={css.letter} x={spot.letter.x} y={spot.letter.y}>
          {spot.place}
        </text>
      )}
    </>
  );
}

/** The seeds that a choice inside a turn leaves in the hand. */
function HandCount({ board, shape }: { board: BoardOf; shape: Shape }) {
  const spot = board.pending && shape.spots.get(board.pending.pit);
  if (!board.pending?.seeds || !spot) return null;
  return (
    <g class={css.inHand} transform={`translate(${spot.x + spot.rx * 0.8} ${spot.y - spot.ry * 0.8})`}>
      <circle r="21" />
      <text y="2">{board.pending.seeds}</text>
    </g>
  );
}

function isBurnt(board: BoardOf, { place, side }: Spot): boolean {
  return board[side].burnt?.includes(place) ?? false;
}

/** A finger that rests on a pit for this time asks where the pit leads, and plays nothing. */
const HOLD_MS = 400;

/** What a pointer does on the pits: a finger that is held shows what a pit would do, until it is lifted. */
function usePress({ onPick, onRefuse, onPoint }: BoardProps, onArrive: (place: string) => void) {
  const press = useRef<{ timer?: ReturnType<typeof setTimeout>; isTouch: boolean; isHeld: boolean }>({ isTouch: false, isHeld: false });
  const release = () => {
    clearTimeout(press.current.timer);
    if (press.current.isHeld) onPoint?.(null);
  };
  const point = (place: string, isLegal: boolean) => onPoint?.(isLegal ? place : null);
  return (place: string, isLegal: boolean) => ({
    // What a touch brings about beside the touch, a mouse that comes and the focus, shows nothing.
    onPointerEnter: ({ pointerType }: PointerEvent) => pointerType === "mouse" && point(place, isLegal),
    onFocus() {
      onArrive(place);
      if (!press.current.isTouch) point(place, isLegal);
    },
    onKeyDown() {
      press.current.isTouch = false;
    },
    onPointerDown({ pointerType }: PointerEvent) {
      release();
      const isTouch = pointerType === "touch";
      press.current = { isTouch, isHeld: false };
      if (!isTouch || !isLegal) return;
      press.current.timer = setTimeout(() => {
        press.current.isHeld = true;
        onPoint?.(place);
      }, HOLD_MS);
    },
    onPointerUp: release,
    onPointerCancel: release,
    // The menu of a browser would come up under a finger that is held.
    onContextMenu: (event: MouseEvent) => press.current.isTouch && event.preventDefault(),
    onClick({ detail }: MouseEvent) {
      const { isHeld, isTouch } = press.current;
      press.current.isHeld = false;
      if (isHeld) return;
      if (isLegal) onPick?.(place, isTouch && detail > 0);
      else onRefuse?.(place);
    },
  });
}

/** The buttons over the pits. One of them is in the order of tabs, and the arrow keys go to the others. */
function Pits({ shape, props }: { shape: Shape; props: BoardProps }) {
  const { board, bottom, legal = [], onPick, onPoint, pending, hinted } = props;
  const buttons = useRef(new Map<string, HTMLButtonElement>());
  const [current, setCurrent] = useState<string | null>(null);
  const first = legal[0] ?? pitsOf(board, bottom)[0] ?? null;
  const stop = current !== null && shape.spots.has(current) ? current : first;
  const press = usePress(props, setCurrent);
  const focus = (place: string) => {
    setCurrent(place);
    buttons.current.get(place)?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const to = beside(shape, stop, event.key) ?? lettered(shape, legal, bottom, event.key);
    if (to === null) return;
    event.preventDefault();
    focus(to);
  };
  const percent = (part: number, whole: number) => `${((100 * part) / whole).toFixed(3)}%`;
  return (
    <div class={css.pits} role="group" aria-label={t("board.label")} onKeyDown={onKeyDown} onMouseLeave={() => onPoint?.(null)}>
      {[...shape.spots.values()].map((spot) => {
        const { place, kind, x, y, rx, ry } = spot;
        const style = {
          left: percent(x - rx, shape.width),
          top: percent(y - ry, shape.height),
          width: percent(2 * rx, shape.width),
          height: percent(2 * ry, shape.height),
        };
        if (kind === "store") {
          return <div key={place} role="img" aria-label={storeLabel(board, spot, props.names)} style={style} />;
        }
        const isLegal = onPick !== undefined && legal.includes(place);
        return (
          <button
            key={place}
            type="button"
            data-pit={place}
            ref={(element) => void (element ? buttons.current.set(place, element) : buttons.current.delete(place))}
            style={style}
            tabIndex={place === stop ? 0 : -1}
            aria-disabled={!isLegal}
            aria-label={pitLabel(board, spot, { isLegal, isPending: pending === place, isChosen: props.chosen === place, isHinted: hinted === place })}
            {...press(place, isLegal)}
            onBlur={() => onPoint?.(null)}
          />
        );
      })}
    </div>
  );
}

/** Where an arrow key leads. */
function beside(shape: Shape, place: string | null, key: string): string | null {
  const row = shape.rows.findIndex((places) => place !== null && places.includes(place));
  const column = shape.rows[row]?.indexOf(place ?? "") ?? -1;
  switch (key) {
    case "ArrowLeft":
      return shape.rows[row]?.[column - 1] ?? null;
    case "ArrowRight":
      return shape.rows[row]?.[column + 1] ?? null;
    case "ArrowUp":
      return shape.rows[row - 1]?.[column] ?? null;
    case "ArrowDown":
      return shape.rows[row + 1]?.[column] ?? null;
    case "Home":
      return shape.rows[row]?.[0] ?? null;
    case "End":
      return shape.rows[row]?.at(-1) ?? null;
    default:
      return null;
  }
}

/** The pit that a letter names, among those of the side to move: its case makes no difference. */
function lettered(shape: Shape, legal: readonly string[], bottom: Side, key: string): string | null {
  if (!/^[a-z]$/i.test(key)) return null;
  const [capital, small] = [key.toUpperCase(), key.toLowerCase()];
  const found = [capital, small].filter((place) => shape.spots.get(place)?.kind === "pit");
  const near = bottom === "south" ? capital : small;
  return found.find((place) => legal.includes(place)) ?? found.find((place) => place === near) ?? found[0] ?? null;
}

interface PitState {
  isLegal: boolean;
  isPending: boolean;
  isChosen: boolean;
  isHinted: boolean;
}

function pitLabel(board: BoardOf, spot: Spot, { isLegal, isPending, isChosen, isHinted }: PitState): string {
  const words = [t("board.pit", { pit: spot.place, side: t(`side.${spot.side}`) })];
  if (isTuzdyk(board, spot.place)) words.push(t("board.tuzdyk", { side: t(`side.${opposite(spot.side)}`) }));
  else words.push(isBurnt(board, spot) ? t("board.burnt") : t("board.seeds", { count: seedsIn(board, spot.place) }));
  if (isHouse(board, spot.place)) words.push(t("board.house"));
  if (isBlocked(board, spot.place)) words.push(t("board.blocked"));
  if (board.pending?.pit === spot.place && board.pending.seeds > 0) words.push(t("board.hand", { count: board.pending.seeds }));
  if (isPending) words.push(t("board.pending"));
  else if (isChosen) words.push(t("board.chosen"));
  else if (isLegal) words.push(t("board.legal"));
  if (isHinted) words.push(t("board.hinted"));
  return words.join(", ");
}

function storeLabel(board: BoardOf, { side, place }: Spot, names: BoardProps["names"]): string {
  const kind = place.endsWith("_reserve") ? "board.reserve" : "board.store";
  const store = t(kind, { side: t(`side.${side}`), name: names?.[side] ?? "" });
  return `${store}, ${t("board.seeds", { count: seedsIn(board, place) })}`;
}
