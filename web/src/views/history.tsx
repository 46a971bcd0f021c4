// All finished games of the player, page by page. The filters stand in the address.

import type { Game, Schemas } from "@mancala-server/client";
import { useEffect, useRef, useState } from "preact/hooks";

import { client } from "../client.ts";
import * as rows from "../parts/rows.module.css";
import { Opponents, stateOf } from "../parts/rows.tsx";
import { Heading } from "../parts/shell.tsx";
import * as ui from "../parts/ui.module.css";
import { Action, Badge, Pick } from "../parts/ui.tsx";
import { ask } from "../state/ask.ts";
import { offeredVariants, titleOf } from "../state/create.ts";
import { explain } from "../state/messages.ts";
import { me } from "../state/session.ts";
import { day } from "../texts/format.ts";
import { t } from "../texts/index.ts";
import { type Filters, filtersIn, NO_FILTERS, queryOf, searchOf } from "./history/filters.ts";
import * as css from "./history/history.module.css";

type Page = Schemas["GamePage"];

export function HistoryView() {
  return (
    <div class={css.history}>
      <Heading title={t("history.title")}>{t("history.title")}</Heading>
      {me.value ? <History /> : <Nobody />}
    </div>
  );
}

function Nobody() {
  return (
    <p class={ui.row}>
      <span>{t("home.no-player")}</span>
      <a class={ui.button} href="/account">
        {t("nav.account")}
      </a>
    </p>
  );
}

function History() {
  const [filters, setFilters] = useState(() => filtersIn(location.search));
  const { games, cursor, error, more, again } = useGames(filters);
  const change = (part: Partial<Filters>) => {
    const next = { ...filters, ...part };
    history.replaceState(null, "", location.pathname + searchOf(next));
    setFilters(next);
  };
  return (
    <>
      <FilterFields filters={filters} onChange={change} />
      <p role="status" class={ui.quiet}>
        {error !== null ? explain(error) : games === null ? t("ui.loading") : games.length === 0 && cursor === null ? t("history.none") : ""}
      </p>
      {error !== null && (
        <button type="button" onClick={again}>
          {t("study.again")}
        </button>
      )}
      {games !== null && games.length > 0 && (
        <div class={ui.card}>
          <ul class={rows.rows}>
            {games.map((game) => (
              <PastGame key={game.id} game={game} />
            ))}
          </ul>
        </div>
      )}
      {cursor !== null && <Action run={more}>{t("history.more")}</Action>}
    </>
  );
}

/** The games that fit, as far as they are read. A page may be short or empty, and only the cursor says whether more follow. */
function useGames(filters: Filters) {
  const [found, setFound] = useState<{ games: readonly Game[]; cursor: string | null } | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [tries, setTries] = useState(0);
  const key = JSON.stringify(filters);
  const current = useRef(key);
  current.current = key;
  useEffect(() => {
    const ending = new AbortController();
    setFound(null);
    setError(null);
    read(filters, null, ending.signal).then(
      ({ items, next_cursor: cursor }) => setFound({ games: items, cursor }),
      (failure: unknown) => ending.signal.aborted || setError(failure),
    );
    return () => ending.abort();
  }, [key, tries]);
  const more = async () => {
    const { items, next_cursor: cursor } = await read(filters, found?.cursor ?? null);
    // Other filters may be chosen meanwhile.
    if (current.current === key) setFound((before) => ({ games: [...(before?.games ?? []), ...items], cursor }));
  };
  return { games: found?.games ?? null, cursor: found?.cursor ?? null, error, more, again: () => setTries(tries + 1) };
}

function read(filters: Filters, cursor: string | null, signal?: AbortSignal): Promise<Page> {
  const query = { ...queryOf(filters), ...(cursor !== null && { cursor }) };
  return ask(client.api.GET("/v1/games", { params: { query }, ...(signal && { signal }) }));
}

function FilterFields({ filters, onChange }: { filters: Filters; onChange(part: Partial<Filters>): void }) {
  const any = { value: "", label: t("history.any") };
  const people = useOpponents();
  const isFiltered = Object.values(filters).some((value) => value !== "");
  return (
    <form class={`${ui.card} ${css.filters}`} role="search" aria-label={t("history.filters")} onSubmit={(event) => event.preventDefault()}>
      <Pick
        id="by-variant"
        label={t("home.variant")}
        value={filters.variant}
        choices={[any, ...offeredVariants()]}
        onChange={(variant) => onChange({ variant })}
      />
      <Pick
        id="by-opponent"
        label={t("new.opponent")}
        value={filters.opponent}
        choices={[
          { value: "", label: t("new.open") },
          { value: "computer", label: t("new.computer") },
          { value: "self", label: t("new.self") },
          ...people.map(({ id, name }) => ({ value: id, label: name })),
        ]}
        onChange={(opponent) => onChange({ opponent })}
      />
      <Pick
        id="by-result"
        label={t("history.result")}
        value={filters.result}
        choices={[any, { value: "won", label: t("row.won") }, { value: "lost", label: t("row.lost") }, { value: "draw", label: t("row.drawn") }]}
        onChange={(result) => onChange({ result })}
      />
      <Day id="by-from" label={t("history.from")} value={filters.from} onChange={(from) => onChange({ from })} />
      <Day id="by-to" label={t("history.to")} value={filters.to} onChange={(to) => onChange({ to })} />
      <Pick
        id="by-analysis"
        label={t("review.analysis")}
        value={filters.analysed}
        choices={[any, { value: "true", label: t("history.analysed") }, { value: "false", label: t("history.not-analysed") }]}
        onChange={(analysed) => onChange({ analysed })}
      />
      {isFiltered && (
        <button type="button" onClick={() => onChange(NO_FILTERS)}>
          {t("history.reset")}
        </button>
      )}
    </form>
  );
}

function Day({ id, label, value, onChange }: { id: string; label: string; value: string; onChange(value: string): void }) {
  return (
    <label class={ui.field} for={id}>
      <span>{label}</span>
      <input id={id} type="date" value={value} onChange={(event) => onChange(event.currentTarget.value)} />
    </label>
  );
}

/** The people of the player's newest games. */
function useOpponents(): readonly Schemas["Player"][] {
  const [people, setPeople] = useState<readonly Schemas["Player"][]>([]);
  useEffect(() => {
    ask(client.api.GET("/v1/me/opponents")).then(
      ({ items }) => setPeople(items.map(({ player }) => player)),
      // The other filters work without them.
      () => undefined,
    );
  }, []);
  return people;
}

function PastGame({ game }: { game: Game }) {
  const at = game.finished_at ?? game.updated_at;
  return (
    <li class={css.past}>
      <a class={rows.gameRow} href={`/games/${game.id}`}>
        <span class={rows.who}>
          <Opponents game={game} />
        </span>
        <span class={rows.what}>
          {titleOf(game.variant)} · {t("moves.title", { count: game.ply })}
          {game.analysed_at && <Badge>{t("history.analysed")}</Badge>}
        </span>
        <span class={rows.state}>{stateOf(game).text}</span>
        <time class={rows.since} dateTime={at}>
          {day(at)}
        </time>
      </a>
      {game.ply > 0 && (
        <a class={ui.button} href={`/review/${game.id}`}>
          {t("review.title")}
        </a>
      )}
    </li>
  );
}
