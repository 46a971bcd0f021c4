// Games that wait for an opponent, and the way to open one.

import * as css from "../parts/rows.module.css";
import { Lobby } from "../parts/rows.tsx";
import { Heading } from "../parts/shell.tsx";
import * as starts from "../parts/starts.module.css";
import { Seek } from "../parts/starts.tsx";
import * as ui from "../parts/ui.module.css";
import { t } from "../texts/index.ts";

export function LobbyView() {
  return (
    <div>
      <Heading title={t("lobby.title")}>{t("lobby.title")}</Heading>
      <div class={css.lists}>
        <Lobby title="row.open" />
        <section class={ui.card} aria-labelledby="seek-title">
          <h2 id="seek-title">{t("home.seek")}</h2>
          <div class={starts.seek}>
            <Seek />
          </div>
        </section>
      </div>
    </div>
  );
}
