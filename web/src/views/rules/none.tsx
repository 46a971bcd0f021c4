// A variant in an address that the server does not have.

import { Heading } from "../../parts/shell.tsx";
import { t } from "../../texts/index.ts";

export function NoVariant({ name }: { name: string }) {
  return (
    <div class="narrow">
      <Heading title={t("rules.none")}>{t("rules.none")}</Heading>
      <p class="row">
        <span>{t("rules.none-text", { name })}</span>
        <a class="button" href="/rules">
          {t("rules.title")}
        </a>
      </p>
    </div>
  );
}
