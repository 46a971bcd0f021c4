// Kalah by its standard rules, for six pits of four seeds: the minimum that a server needs to check a move.

const PITS = 6;

// Pits 0 to 5 and the store 6 are South's, 7 to 12 and 13 North's: the ring in the order of sowing.
export function opening() {
  const ring = Array(14).fill(4);
  ring[6] = ring[13] = 0;
  return { ring, turn: 0, extra: false, over: false, plies: 0 };
}

export function text({ ring, turn, extra, over, plies }) {
  const flags = over ? "o" : extra ? "e" : "-";
  return `${ring.slice(0, 6)}/${ring.slice(7, 13)} ${ring[6]}-${ring[13]} ${"SN"[turn]} ${flags} ${plies} 1S`;
}

// The position after a move of a seat; null if it may not be played.
export function play(position, seat, move) {
  const { ring, turn, plies } = read(position);
  const index = "ABCDEFabcdef".indexOf(move);
  const pit = move.length !== 1 || index < 0 ? -1 : index < PITS ? index : index + 1;
  if (turn !== seat || pit < 0 || Math.floor(pit / 7) !== turn || ring[pit] === 0) return null;
  const store = turn * 7 + PITS;
  const others = (1 - turn) * 7 + PITS;
  let at = pit;
  let seeds = ring[pit];
  ring[pit] = 0;
  while (seeds > 0) {
    at = (at + 1) % 14;
    if (at === others) continue;
    ring[at]++;
    seeds--;
  }
  const facing = 12 - at;
  if (at !== store && Math.floor(at / 7) === turn && ring[at] === 1 && ring[facing] > 0) {
    ring[store] += ring[facing] + 1;
    ring[at] = ring[facing] = 0;
  }
  const over = [0, 7].some((row) => ring.slice(row, row + PITS).every((pit) => pit === 0));
  if (over) {
    for (const row of [0, 7]) {
      for (let pit = row; pit < row + PITS; pit++) {
        ring[row + PITS] += ring[pit];
        ring[pit] = 0;
      }
    }
  }
  const extra = !over && at === store;
  return { ring, turn: extra || over ? turn : 1 - turn, extra, over, plies: plies + 1 };
}

function read(position) {
  const [rows, stores, side, , plies] = position.split(" ");
  const [south, north] = rows.split("/").map((row) => row.split(",").map(Number));
  const [one, two] = stores.split("-").map(Number);
  return { ring: [...south, one, ...north, two], turn: "SN".indexOf(side), plies: Number(plies) };
}
