// The opening explorer: a board to try moves on, and beside it what was played there in other games.

import { useState } from "preact/hooks";

import { Heading } from "../parts/shell.tsx";
import * as ui from "../parts/ui.module.css";
import { Pick } from "../parts/ui.tsx";
import { titleOf, variants } from "../state/create.ts";
import { failedBy } from "../state/messages.ts";
import { t } from "../texts/index.ts";
import { Explorer } from "./review/explorer.tsx";
import { NoVariant } from "./rules/none.tsx";
import { SandboxBoard } from "./rules/sandbox.tsx";
import { useSandbox } from "./rules/sandbox-store.ts";
import * as css from "./study.module.css";

export function ExploreView({ variant }: { variant: string }) {
  const [preset, setPreset] = useState("standard");
  const presets = variants.value.find(({ name }) => name === variant)?.presets ?? [];
  const sandbox = useSandbox({ variant, preset, options: {} });
  if (failedBy(sandbox.failure.value, "not_found")) return <NoVariant name={variant} />;
  const title = t("explorer.title-of", { variant: titleOf(variant) });
  const position = sandbox.now()?.position;
  return (
    <div class={`${css.study} ${css.rules}`}>
      <Heading title={title}>{title}</Heading>
      <div class={css.two}>
        <section class={ui.card} aria-label={t("board.label")}>
          {presets.length > 1 && (
            <Pick
              id="explore-preset"
              label={t("new.preset")}
              value={preset}
              choices={presets.map((each) => ({ value: each.name, label: each.title }))}
              onChange={setPreset}
            />
          )}
          <SandboxBoard sandbox={sandbox} />
        </section>
        <section class={ui.card} aria-labelledby="explored-title">
          <h2 id="explored-title">{t("explorer.played-here")}</h2>
          {position !== undefined && <Explorer key={preset} rules={sandbox.rules} position={position} onMove={(move) => void sandbox.play(move)} />}
        </section>
      </div>
    </div>
  );
}
