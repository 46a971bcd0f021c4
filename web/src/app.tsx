// The page: the view that the address names, within what surrounds all views.

import { Boundary } from "./parts/boundary.tsx";
import { Heading, Shell } from "./parts/shell.tsx";
import * as ui from "./parts/ui.module.css";
import { route } from "./router.ts";
import { departures } from "./state/session.ts";
import { t } from "./texts/index.ts";
import { GameView } from "./views/game.tsx";
import { Home } from "./views/home.tsx";
import { later } from "./views/later.tsx";
import { LobbyView } from "./views/lobby.tsx";

const ReviewView = later(async () => (await import("./views/review.tsx")).ReviewView);
const RulesView = later(async () => (await import("./views/rules.tsx")).RulesView);
const NewGameView = later(async () => (await import("./views/new-game.tsx")).NewGameView);
const ExploreView = later(async () => (await import("./views/explore.tsx")).ExploreView);
const AccountView = later(async () => (await import("./views/account.tsx")).AccountView);
const SettingsView = later(async () => (await import("./views/settings.tsx")).SettingsView);
const HistoryView = later(async () => (await import("./views/history.tsx")).HistoryView);

export function App() {
  return (
    <Boundary>
      <Shell>
        <Boundary>
          <View />
        </Boundary>
      </Shell>
    </Boundary>
  );
}

function View() {
  const { value } = route;
  switch (value.view) {
    case "home":
      return <Home />;
    case "lobby":
      return <LobbyView />;
    case "account":
      return <AccountView />;
    case "settings":
      return <SettingsView />;
    case "game":
      return <GameView key={value.id} id={value.id} joinCode={value.joinCode} />;
    case "review":
      // Another player has other notes.
      return <ReviewView key={`${value.id} ${departures.value}`} id={value.id} />;
    case "history":
      // Another player has other games.
      return <HistoryView key={departures.value} />;
    case "rules":
      return <RulesView variant={value.variant} />;
    case "explore":
      return <ExploreView key={value.variant} variant={value.variant} />;
    case "new":
      return <NewGameView />;
    default:
      return <Unknown />;
  }
}

function Unknown() {
  return (
    <div class={ui.narrow}>
      <Heading title={t("unknown.title")}>{t("unknown.title")}</Heading>
      <p>{t("unknown.text")}</p>
      <p>
        <a class={ui.button} href="/">
          {t("nav.home")}
        </a>
      </p>
    </div>
  );
}
