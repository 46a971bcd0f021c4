// A board in small, drawn here as the server's pictures are: of each of those the network would carry 3 kB.

import type { Board } from "@mancala-server/client";

import { draw, settle, totalOf } from "../../board/seeds.ts";
import { thumbOf } from "../../board/shape.ts";
import * as ui from "../../parts/ui.module.css";
import { layoutOf, pictureOf } from "../../state/create.ts";
import { OPENINGS } from "./opening.ts";

/** The opening of a variant, or another board of it. */
export function Thumb({ variant, board = OPENINGS[variant] }: { variant: string; board?: Board | undefined }) {
  if (!board) return <img class={ui.picture} src={pictureOf(variant)} width="640" height="334" loading="lazy" alt="" />;
  const shape = thumbOf(board, layoutOf(variant) ?? undefined);
  const seeds = draw(settle(null, board, totalOf(board)), shape, null);
  return (
    <svg class={ui.picture} viewBox={`0 0 ${shape.width} ${shape.height}`} aria-hidden="true">
      <rect fill="url(#wood)" width={shape.width} height={shape.height} rx="44" />
      {[...shape.spots.values()].map(({ place, x, y, rx, ry }) => (
        <rect key={place} fill="url(#hollow)" x={x - rx} y={y - ry} width={2 * rx} height={2 * ry} rx={Math.min(rx, ry)} />
      ))}
      <path d={seeds.map(({ x, y }) => `M${Math.round(x)} ${Math.round(y)}h0`).join("")} stroke="#e6d3ae" stroke-width="17" stroke-linecap="round" />
    </svg>
  );
}
