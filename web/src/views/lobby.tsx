// Games that wait for an opponent.

import { Lobby } from "../parts/rows.tsx";
import { Heading } from "../parts/shell.tsx";
import { t } from "../texts/index.ts";

export function LobbyView() {
  return (
    <div class="narrow">
      <Heading title={t("lobby.title")}>{t("lobby.title")}</Heading>
      <Lobby />
    </div>
  );
}
