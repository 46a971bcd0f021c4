// The board of the first paint: Kalah's opening, as every server has it. The server's answer takes its place.

import type { Board } from "@mancala-server/client";

const side = () => ({ pits: [4, 4, 4, 4, 4, 4], store: 0 });

export const OPENING: Board = { south: side(), north: side() };
