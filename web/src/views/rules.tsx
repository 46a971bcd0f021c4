// The rules of each variant, with a board to try them on.

import { useMemo, useState } from "preact/hooks";

import { Board } from "../board/board.tsx";
import { Heading } from "../parts/shell.tsx";
import * as ui from "../parts/ui.module.css";
import { Pick } from "../parts/ui.tsx";
import { layoutOf, titleOf, variants } from "../state/create.ts";
import { explain, failedBy } from "../state/messages.ts";
import { settings } from "../state/settings.ts";
import { language, spoken, t } from "../texts/index.ts";
import { optionTexts, readOptionTexts } from "../texts/options/index.ts";
import { blocksOf, Inline, Markdown } from "./rules/markdown.tsx";
import { NoVariant } from "./rules/none.tsx";
import * as css from "./rules/rules.module.css";
import { SandboxBoard } from "./rules/sandbox.tsx";
import { useSandbox } from "./rules/sandbox-store.ts";
import * as study from "./study.module.css";
import { useVariant, type Variant } from "./variant.ts";

export function RulesView({ variant }: { variant: string | null }) {
  void readOptionTexts(language.value);
  return variant === null ? <AllRules /> : <OneRules key={variant} name={variant} />;
}

function AllRules() {
  return (
    <div>
      <Heading title={t("rules.title")}>{t("rules.title")}</Heading>
      {variants.value.length === 0 && <p class={ui.quiet}>{t("ui.loading")}</p>}
      <ul class={css.variants}>
        {variants.value.map(({ name, title, presets }) => (
          <li key={name} class={ui.card}>
            <h2>
              <a href={`/rules/${name}`}>{title}</a>
            </h2>
            <img
              class={ui.picture}
              src={`/v1/variants/${name}/board.svg?theme=${settings.value.theme}&lang=${spoken.value}`}
              width="640"
              height="300"
              loading="lazy"
              alt={t("home.picture", { variant: title })}
            />
            <p class={ui.quiet}>{t("rules.presets-count", { count: presets.length })}</p>
          </li>
        ))}
      </ul>
    </div>
  );
}

function OneRules({ name }: { name: string }) {
  const { variant, error, again } = useVariant(name);
  if (failedBy(error, "not_found")) return <NoVariant name={name} />;
  const title = t("rules.title-of", { variant: variant?.title ?? titleOf(name) });
  if (variant) return <Known variant={variant} title={title} />;
  return (
    <div class={ui.narrow}>
      <Heading title={title}>{title}</Heading>
      {error === null ? (
        <p class={ui.quiet}>{t("ui.loading")}</p>
      ) : (
        <p class={ui.row}>
          <span>{explain(error)}</span>
          <button type="button" onClick={again}>
            {t("study.again")}
          </button>
          <a class={ui.button} href="/rules">
            {t("rules.title")}
          </a>
        </p>
      )}
    </div>
  );
}

function Known({ variant, title }: { variant: Variant; title: string }) {
  const blocks = useMemo(() => blocksOf(variant.rules).filter((block) => block.type !== "heading" || block.level > 1), [variant.rules]);
  const [preset, setPreset] = useState(variant.presets[0]?.name ?? "standard");
  const chosen = variant.presets.find(({ name }) => name === preset);
  const sandbox = useSandbox({ variant: variant.name, preset, options: {} });
  return (
    <div class={`${study.study} ${study.rules}`}>
      <Heading title={title}>{title}</Heading>
      <nav aria-label={t("rules.title")} class={ui.row}>
        {variants.value.map(({ name, title: each }) => (
          <a key={name} class={ui.button} href={`/rules/${name}`} aria-current={name === variant.name ? "page" : undefined}>
            {each}
          </a>
        ))}
      </nav>
      <div class={study.two}>
        <div class={ui.stack}>
          <article class={`${ui.card} ${css.prose}`} lang="en" dir="ltr">
            <Markdown blocks={blocks} code={(text, n) => (isBoard(text) ? <Picture key={n} variant={variant} /> : undefined)} />
            <p>
              <a href="/docs/rules" lang={language.value}>
                {t("rules.full")}
              </a>
            </p>
          </article>
          <Presets variant={variant} />
        </div>
        <section class={`${ui.card} ${css.sandbox}`} aria-labelledby="sandbox-title">
          <h2 id="sandbox-title">{t("sandbox.title")}</h2>
          <p>{t("sandbox.text")}</p>
          <Pick
            id="sandbox-preset"
            label={t("new.preset")}
            value={preset}
            choices={variant.presets.map((each) => ({ value: each.name, label: each.title }))}
            onChange={setPreset}
          />
          {chosen && (
            <p class={ui.quiet} lang="en" dir="ltr">
              {chosen.description}
            </p>
          )}
          <SandboxBoard sandbox={sandbox} />
          <p class={ui.row}>
            <a class={`${ui.button} ${ui.primary}`} href={`/new?variant=${variant.name}&preset=${preset}`}>
              {t("rules.play")}
            </a>
            <a class={ui.button} href={`/explore/${variant.name}`}>
              {t("explorer.title")}
            </a>
          </p>
        </section>
      </div>
      {language.value !== "en" && <p class={ui.quiet}>{t("rules.in-english")}</p>}
    </div>
  );
}

/** Whether a block of code is the board in letters, which the page draws instead: first pits of both sides, in either order. */
function isBoard(text: string): boolean {
  const hasRow = (letters: string) => [letters, [...letters].reverse().join("")].some((row) => new RegExp(`\\b${[...row].join("\\s+")}\\b`).test(text));
  return hasRow("ABCD") && hasRow("abcd");
}

/** The opening, with the letters of its pits. */
function Picture({ variant }: { variant: Variant }) {
  const sandbox = useSandbox({ variant: variant.name, preset: variant.presets[0]?.name ?? "standard", options: {} });
  const board = sandbox.line.value?.start.board;
  return (
    <figure class={study.openingBoard}>
      {board ? <Board board={board} bottom="south" layout={layoutOf(variant.name)} /> : <div class={study.boardPlace} />}
    </figure>
  );
}

function Presets({ variant }: { variant: Variant }) {
  return (
    <section class={`${ui.card} ${css.presets}`} aria-labelledby="presets-title">
      <h2 id="presets-title">{t("rules.presets")}</h2>
      {variant.presets.map(({ name, title, description, source, options }) => (
        <details key={name}>
          <summary lang="en">{title}</summary>
          <p lang="en" dir="ltr">
            <Inline text={description} />
          </p>
          <p class={ui.quiet}>{t("rules.source", { source })}</p>
          <dl class={css.options}>
            {Object.entries(options).map(([option, value]) => (
              <div key={option}>
                <dt>{optionTexts.value.label(option)}</dt>
                <dd>{optionTexts.value.value(option, value)}</dd>
              </div>
            ))}
          </dl>
        </details>
      ))}
    </section>
  );
}
