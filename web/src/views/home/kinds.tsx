// The games that the server offers: a picture of each, where it comes from, how hard it is, and how long it takes.

import { chosenVariant, offeredVariants } from "../../state/create.ts";
import { set } from "../../state/settings.ts";
import { type Key, language, t } from "../../texts/index.ts";
import * as css from "./home.module.css";
import { Thumb } from "./thumb.tsx";

interface About {
  origin: Key;
  level: Key;
  /** What a game between two people takes, about. */
  minutes: number;
}

/** What is said of a game. A server may offer others, of which only name and picture are known. */
const ABOUT: Readonly<Record<string, About>> = {
  kalah: { origin: "origin.america", level: "level.easy", minutes: 5 },
  oware: { origin: "origin.west-africa", level: "level.medium", minutes: 10 },
  congkak: { origin: "origin.malay", level: "level.easy", minutes: 10 },
  bao: { origin: "origin.east-africa", level: "level.hard", minutes: 30 },
  omweso: { origin: "origin.uganda", level: "level.hard", minutes: 20 },
  toguz_kumalak: { origin: "origin.central-asia", level: "level.medium", minutes: 20 },
  bestemshe: { origin: "origin.central-asia", level: "level.easy", minutes: 5 },
};

export function Kinds() {
  const chosen = chosenVariant();
  return (
    <fieldset class={css.kinds}>
      <legend>{t("home.kinds")}</legend>
      <div class={css.strip}>
        {offeredVariants().map(({ value, label }) => (
          <label key={value} class={css.kind}>
            <input type="radio" name="variant" checked={value === chosen} onChange={() => set({ variant: value })} />
            <Thumb variant={value} />
            <strong>{label}</strong>
            <Told about={ABOUT[value]} />
          </label>
        ))}
      </div>
    </fieldset>
  );
}

function Told({ about }: { about: About | undefined }) {
  if (!about) return null;
  const minutes = new Intl.NumberFormat(language.value, { style: "unit", unit: "minute" }).format(about.minutes);
  return (
    <small>
      <span>{t(about.origin)}</span>
      <span>
        {t(about.level)} · {minutes}
      </span>
    </small>
  );
}
