// Numbers of seeds as a reader expects them.

import { language } from "../../texts/index.ts";

/** A margin with its sign: `+3.5`, `−2`, `0`. */
export function signed(value: number): string {
  return new Intl.NumberFormat(language.value, { signDisplay: "exceptZero", maximumFractionDigits: 1 }).format(value);
}

/** A number with at most one decimal. */
export function plain(value: number): string {
  return new Intl.NumberFormat(language.value, { maximumFractionDigits: 1 }).format(value);
}
