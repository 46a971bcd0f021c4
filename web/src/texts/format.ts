// Times and durations as people read them.

import type { Clock } from "@mancala-server/client";

import { language, t } from "./index.ts";

const [MINUTE, HOUR, DAY] = [60, 3600, 86400];

/** What a clock shows: `2 d 3 h`, `3 h 20 min`, `4:05`. */
export function clockTime(seconds: number): string {
  const left = Math.max(0, Math.floor(seconds));
  if (left >= DAY) return t("time.days-hours", { days: Math.floor(left / DAY), hours: Math.floor((left % DAY) / HOUR) });
  if (left >= HOUR) return t("time.hours-minutes", { hours: Math.floor(left / HOUR), minutes: Math.floor((left % HOUR) / MINUTE) });
  return `${Math.floor(left / MINUTE)}:${String(left % MINUTE).padStart(2, "0")}`;
}

/** A span of a setting: `1 day`, `90 minutes`. */
export function span(seconds: number): string {
  if (seconds % DAY === 0) return t("time.days", { count: seconds / DAY });
  if (seconds % HOUR === 0) return t("time.hours", { count: seconds / HOUR });
  return t("time.minutes", { count: Math.round(seconds / MINUTE) });
}

/** A whole clock: `1 day for each turn`, `10 minutes each, 0:05 more a turn`. */
export function clockInWords({ type, move_s: move, initial_s: initial = 0, increment_s: increment = 0 }: Clock): string {
  if (type === "unlimited") return t("clock.unlimited");
  if (move !== undefined) return t("clock.per-move", { time: span(move) });
  const time = span(initial);
  return increment > 0 ? t("about.bank-more", { time, more: increment < MINUTE ? clockTime(increment) : span(increment) }) : t("about.bank", { time });
}

/** How long ago, or in what time: `3 hours ago`. */
export function relative(at: string, now: number): string {
  const seconds = (Date.parse(at) - now) / 1000;
  const format = new Intl.RelativeTimeFormat(language.value, { numeric: "auto" });
  const size = Math.abs(seconds);
  if (size < MINUTE) return format.format(0, "second");
  if (size < HOUR) return format.format(Math.round(seconds / MINUTE), "minute");
  if (size < DAY) return format.format(Math.round(seconds / HOUR), "hour");
  return format.format(Math.round(seconds / DAY), "day");
}

/** A day. */
export function day(at: string): string {
  return new Intl.DateTimeFormat(language.value, { dateStyle: "medium" }).format(new Date(at));
}

/** A day and a time. */
export function moment(at: string): string {
  return new Intl.DateTimeFormat(language.value, { dateStyle: "medium", timeStyle: "short" }).format(new Date(at));
}
