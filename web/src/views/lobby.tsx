// Games that wait for an opponent, and the way to open one.

import { Lobby } from "../parts/rows.tsx";
import { Heading } from "../parts/shell.tsx";
import { Seek } from "../parts/starts.tsx";
import { t } from "../texts/index.ts";

export function LobbyView() {
  return (
    <div>
      <Heading title={t("lobby.title")}>{t("lobby.title")}</Heading>
      <div class="lists">
        <Lobby title="row.open" />
        <section class="card" aria-labelledby="seek-title">
          <h2 id="seek-title">{t("home.seek")}</h2>
          <div class="seek">
            <Seek />
          </div>
        </section>
      </div>
    </div>
  );
}
