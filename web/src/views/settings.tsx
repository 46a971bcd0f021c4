// What this device prefers: language, colours, movement, sound, notifications.

import { useEffect, useState } from "preact/hooks";
import { knock } from "../board/sound.ts";
import { Heading } from "../parts/shell.tsx";
import * as ui from "../parts/ui.module.css";
import { Choice, Pick } from "../parts/ui.tsx";
import { attempt } from "../state/messages.ts";
import { findKey, isNotified, notify, silence } from "../state/push.ts";
import { type Speed, set, settings, type Theme } from "../state/settings.ts";
import { LANGUAGES, speak, t } from "../texts/index.ts";

const THEMES: readonly Theme[] = ["auto", "light", "dark"];
const SPEEDS: readonly Speed[] = ["auto", "slow", "normal", "fast", "off"];

const TAPS = ["play", "show"] as const;

export function SettingsView() {
  const { theme, speed, tap, sound, language } = settings.value;
  const languages = [{ value: "", label: t("settings.language-auto") }, ...Object.entries(LANGUAGES).map(([value, label]) => ({ value, label }))];
  const choose = (value: string) => {
    set({ language: value === "" ? null : value });
    void speak(value === "" ? null : value);
  };
  const toggleSound = (on: boolean) => {
    set({ sound: on });
    knock("sow");
  };
  return (
    <div class={ui.narrow}>
      <Heading title={t("settings.title")}>{t("settings.title")}</Heading>
      <section class={`${ui.card} ${ui.stack}`}>
        <Pick id="language" label={t("settings.language")} value={language ?? ""} choices={languages} onChange={choose} />
        <Choice
          name="theme"
          label={t("settings.theme")}
          value={theme}
          choices={THEMES.map((value) => ({ value, label: t(`theme.${value}`) }))}
          onChange={(value) => set({ theme: value })}
        />
        <Choice
          name="speed"
          label={t("settings.speed")}
          value={speed}
          choices={SPEEDS.map((value) => ({ value, label: t(`speed.${value}`) }))}
          onChange={(value) => set({ speed: value })}
        />
        <Choice
          name="tap"
          label={t("settings.tap")}
          value={tap}
          choices={TAPS.map((value) => ({ value, label: t(`tap.${value}`) }))}
          onChange={(value) => set({ tap: value })}
        />
        <label class={ui.check}>
          <input type="checkbox" checked={sound} onChange={(event) => toggleSound(event.currentTarget.checked)} />
          <span>{t("settings.sound")}</span>
        </label>
      </section>
      <p class={ui.quiet}>{t("settings.kept-here")}</p>
      <Notifications />
    </div>
  );
}

/** The switch for notifications, where the server and the browser have them. */
function Notifications() {
  const [key, setKey] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  // Nothing is offered while the server cannot be reached.
  useEffect(() => void findKey().then(setKey, () => undefined), []);
  if (key === null) return null;
  const toggle = async (on: boolean) => {
    setBusy(true);
    await attempt(() => (on ? notify(key) : silence()));
    setBusy(false);
  };
  return (
    <section class={`${ui.card} ${ui.stack}`}>
      <label class={ui.check}>
        <input
          type="checkbox"
          checked={isNotified.value}
          disabled={isBusy}
          aria-describedby="push-text"
          onChange={(event) => void toggle(event.currentTarget.checked)}
        />
        <span>{t("settings.push")}</span>
      </label>
      <p id="push-text" class={ui.quiet}>
        {t("settings.push-text")}
      </p>
    </section>
  );
}
