// A variant in an address that the server does not have.

import { Heading } from "../../parts/shell.tsx";
import * as ui from "../../parts/ui.module.css";
import { t } from "../../texts/index.ts";

export function NoVariant({ name }: { name: string }) {
  return (
    <div class={ui.narrow}>
      <Heading title={t("rules.none")}>{t("rules.none")}</Heading>
      <p class={ui.row}>
        <span>{t("rules.none-text", { name })}</span>
        <a class={ui.button} href="/rules">
          {t("rules.title")}
        </a>
      </p>
    </div>
  );
}
