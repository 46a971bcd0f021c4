// The first view: what waits for the player, a board to touch, three ways to begin a game, and what others play.

import { useEffect } from "preact/hooks";
import * as rows from "../parts/rows.module.css";
import { Lobby } from "../parts/rows.tsx";
import { Heading } from "../parts/shell.tsx";
import { Starts } from "../parts/starts.tsx";
import { chosenVariant } from "../state/create.ts";
import { followMine } from "../state/lists.ts";
import { me } from "../state/session.ts";
import { t } from "../texts/index.ts";
import * as css from "./home/home.module.css";
import { Kinds } from "./home/kinds.tsx";
import { Invitations, MyGames, Running, Turns } from "./home/lists.tsx";
import { TryBoard } from "./home/try.tsx";

export function Home() {
  useEffect(followMine, [me.value?.id]);
  const variant = chosenVariant();
  // A player's own games come first. Visitors see that others play.
  const lists = (
    <div class={rows.lists}>
      <MyGames />
      <Lobby />
    </div>
  );
  return (
    <div class={css.home}>
      <Heading title="Mancala">{t("home.title")}</Heading>
      <Turns />
      <Invitations />
      <div class={css.hero}>
        <TryBoard key={variant} variant={variant} />
        <Starts />
        <Kinds />
      </div>
      {me.value && lists}
      <Running />
      {!me.value && lists}
    </div>
  );
}
