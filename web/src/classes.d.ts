// Written by the build: the classes of each module.

declare module "*/board.module.css" {
  export const board: string;
  export const upright: string;
  export const drawing: string;
  export const wood0: string;
  export const wood1: string;
  export const hollow0: string;
  export const hollow1: string;
  export const under: string;
  export const wood: string;
  export const edge: string;
  export const grain: string;
  export const hole: string;
  export const rim: string;
  export const ring: string;
  export const burnt: string;
  export const cross: string;
  export const sown: string;
  export const from: string;
  export const captured: string;
  export const legal: string;
  export const inside: string;
  export const ends: string;
  export const hinted: string;
  export const star: string;
  export const taken: string;
  export const pending: string;
  export const chosen: string;
  export const house: string;
  export const tuzdyk: string;
  export const bar: string;
  export const seed: string;
  export const held: string;
  export const shade: string;
  export const body: string;
  export const tone0: string;
  export const tone1: string;
  export const tone2: string;
  export const tone3: string;
  export const tone4: string;
  export const light: string;
  export const shine0: string;
  export const shine1: string;
  export const shine2: string;
  export const counts: string;
  export const count: string;
  export const store: string;
  export const long: string;
  export const letter: string;
  export const deep: string;
  export const inHand: string;
  export const ways: string;
  export const play: string;
  export const arrows: string;
  export const words: string;
  export const pits: string;
}

declare module "*/game.module.css" {
  export const game: string;
  export const top: string;
  export const nameOf: string;
  export const about: string;
  export const table: string;
  export const stage: string;
  export const loading: string;
  export const seat: string;
  export const turn: string;
  export const on: string;
  export const side: string;
  export const time: string;
  export const short: string;
  export const actions: string;
  export const says: string;
  export const status: string;
  export const slots: string;
  export const absent: string;
  export const slot: string;
  export const icon: string;
  export const hint: string;
  export const presence: string;
  export const live: string;
  export const away: string;
  export const queued: string;
  export const controls: string;
  export const invite: string;
  export const news: string;
  export const join: string;
  export const words: string;
  export const notices: string;
  export const link: string;
}

declare module "*/moves.module.css" {
  export const moves: string;
  export const north: string;
}

declare module "*/offers.module.css" {
  export const guide: string;
  export const offers: string;
}

declare module "*/result.module.css" {
  export const result: string;
  export const score: string;
  export const close: string;
}

declare module "*/rows.module.css" {
  export const rows: string;
  export const gameRow: string;
  export const who: string;
  export const what: string;
  export const since: string;
  export const state: string;
  export const offer: string;
  export const urgent: string;
  export const turns: string;
  export const lists: string;
}

declare module "*/sheet.module.css" {
  export const sheet: string;
}

declare module "*/shell.module.css" {
  export const skip: string;
  export const head: string;
  export const brand: string;
  export const bowl: string;
  export const bean: string;
  export const person: string;
  export const connection: string;
  export const messages: string;
  export const message: string;
  export const error: string;
  export const foot: string;
  export const wide: string;
  export const shell: string;
}

declare module "*/starts.module.css" {
  export const starts: string;
  export const start: string;
  export const settings: string;
  export const seek: string;
}

declare module "*/ui.module.css" {
  export const button: string;
  export const primary: string;
  export const danger: string;
  export const plain: string;
  export const card: string;
  export const stack: string;
  export const narrow: string;
  export const row: string;
  export const end: string;
  export const quiet: string;
  export const field: string;
  export const choice: string;
  export const check: string;
  export const unseen: string;
  export const told: string;
  export const picture: string;
  export const name: string;
  export const badge: string;
}

declare module "*/account.module.css" {
  export const code: string;
  export const figures: string;
}

declare module "*/history.module.css" {
  export const history: string;
  export const filters: string;
  export const past: string;
}

declare module "*/home.module.css" {
  export const home: string;
  export const hero: string;
  export const trial: string;
  export const table: string;
  export const line: string;
  export const below: string;
  export const kinds: string;
  export const running: string;
  export const strip: string;
  export const kind: string;
}

declare module "*/new-game.module.css" {
  export const stale: string;
  export const newGame: string;
  export const label: string;
  export const field: string;
  export const beside: string;
  export const error: string;
  export const summary: string;
  export const allOptions: string;
}

declare module "*/explorer.module.css" {
  export const explored: string;
  export const results: string;
  export const south: string;
  export const draws: string;
  export const north: string;
}

declare module "*/graph.module.css" {
  export const graph: string;
  export const ground: string;
  export const zero: string;
  export const area: string;
  export const curve: string;
  export const cursor: string;
  export const reach: string;
  export const mark: string;
  export const inaccuracy: string;
  export const mistake: string;
  export const blunder: string;
  export const legend: string;
}

declare module "*/plies.module.css" {
  export const plies: string;
  export const north: string;
  export const number: string;
  export const move: string;
  export const sign: string;
}

declare module "*/review.module.css" {
  export const review: string;
  export const desk: string;
  export const names: string;
  export const under: string;
  export const steps: string;
  export const said: string;
  export const would: string;
  export const variation: string;
  export const line: string;
  export const special: string;
  export const classes: string;
  export const verdict: string;
  export const bad: string;
  export const good: string;
  export const notes: string;
}

declare module "*/rules.module.css" {
  export const variants: string;
  export const sandbox: string;
  export const prose: string;
  export const presets: string;
  export const options: string;
}

declare module "*/study.module.css" {
  export const study: string;
  export const rules: string;
  export const said: string;
  export const scroll: string;
  export const two: string;
  export const openingBoard: string;
  export const boardPlace: string;
}
