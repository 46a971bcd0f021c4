// Which finished games are listed: as the address says it, and as the server is asked.

export interface Filters {
  variant: string;
  /** The id of a player, or `computer` or `self`. */
  opponent: string;
  result: string;
  /** Days, such as `2026-11-01`, both included. */
  from: string;
  to: string;
  analysed: string;
}

export const NO_FILTERS: Filters = { variant: "", opponent: "", result: "", from: "", to: "", analysed: "" };

const PAGE = 20;

/** What an address may say. Anything else is as if it were not there. */
const FORMS: Readonly<Record<keyof Filters, RegExp>> = {
  variant: /^\w{1,40}$/,
  opponent: /^(?:computer|self|[0-9a-f-]{36})$/,
  result: /^(?:won|lost|draw)$/,
  from: /^\d{4}-\d\d-\d\d$/,
  to: /^\d{4}-\d\d-\d\d$/,
  analysed: /^(?:true|false)$/,
};

/** The filters that an address names. */
export function filtersIn(search: string): Filters {
  const given = new URLSearchParams(search);
  const entries = Object.entries(FORMS).flatMap(([name, form]) => {
    const value = given.get(name) ?? "";
    return form.test(value) ? [[name, value]] : [];
  });
  return { ...NO_FILTERS, ...(Object.fromEntries(entries) as Partial<Filters>) };
}

/** The address's query for filters. */
export function searchOf(filters: Filters): string {
  const set = Object.entries(filters).filter(([, value]) => value !== "");
  return set.length > 0 ? `?${new URLSearchParams(set)}` : "";
}

/** What the server is asked. A day begins at midnight where the player is. */
export function queryOf({ variant, opponent, result, from, to, analysed }: Filters) {
  const [since, until] = [midnight(from, 0), midnight(to, 1)];
  return {
    player: "me",
    status: ["finished" as const],
    sort: "finished_at" as const,
    limit: PAGE,
    ...(variant !== "" && { variant }),
    ...(isKind(opponent) ? { opponent_type: opponent } : opponent !== "" && { opponent }),
    ...(result !== "" && { result: result as "won" | "lost" | "draw" }),
    ...(since !== null && { since }),
    ...(until !== null && { until }),
    ...(analysed !== "" && { analysed: analysed === "true" }),
  };
}

const isKind = (opponent: string): opponent is "computer" | "self" => opponent === "computer" || opponent === "self";

/** The beginning of a day, or of one some days later. */
function midnight(day: string, later: number): string | null {
  const at = new Date(`${day}T00:00:00`);
  at.setDate(at.getDate() + later);
  return Number.isNaN(at.getTime()) ? null : at.toISOString();
}
