// The rules of each game, in the server's words, with the boards of its presets.

import { Markdown } from "../parts/markdown.tsx";
import { Heading } from "../parts/shell.tsx";
import { variants } from "../state/create.ts";
import { settings } from "../state/settings.ts";
import { useVariant, type Variant } from "../state/variant.ts";
import { t } from "../texts/index.ts";

export function RulesView({ variant }: { variant: string | null }) {
  const name = variant ?? variants.value[0]?.name ?? "kalah";
  return <Rules key={name} name={name} />;
}

function Rules({ name }: { name: string }) {
  const variant = useVariant(name);
  const title = variant ? t("rules.title-of", { variant: variant.title }) : t("nav.rules");
  return (
    <div class="narrow rules">
      <Heading title={title}>{title}</Heading>
      <nav class="row" aria-label={t("rules.games")}>
        {variants.value.map((each) => (
          <a key={each.name} class={each.name === name ? "button primary" : "button"} aria-current={each.name === name ? "page" : undefined} href={`/rules/${each.name}`}>
            {each.title}
          </a>
        ))}
      </nav>
      {variant === undefined && <p class="quiet">{t("ui.loading")}</p>}
      {variant === null && <p>{t("rules.none")}</p>}
      {variant && (
        <>
          <article lang="en" class="card">
            <img class="opening" src={picture(variant, "standard")} width="640" height="425" alt={t("home.picture", { variant: variant.title })} />
            <Markdown text={variant.rules} />
          </article>
          <Presets variant={variant} />
        </>
      )}
    </div>
  );
}

function picture({ name }: Variant, preset: string): string {
  return `/v1/variants/${name}/board.svg?preset=${encodeURIComponent(preset)}&theme=${settings.value.theme}`;
}

function Presets({ variant }: { variant: Variant }) {
  return (
    <section aria-labelledby="presets-title">
      <h2 id="presets-title">{t("rules.presets")}</h2>
      <ul class="stack plain-list">
        {variant.presets.map((preset) => (
          <li key={preset.name} class="card preset" lang="en">
            <img src={picture(variant, preset.name)} width="640" height="425" loading="lazy" alt="" />
            <div>
              <h3>{preset.title}</h3>
              <p>{preset.description}</p>
              <p>
                <small>{preset.source}</small>
              </p>
              <a class="button" lang={document.documentElement.lang} href={`/new#${variant.name}/${preset.name}`}>
                {t("rules.play")}
              </a>
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
