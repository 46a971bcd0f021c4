// Views that are loaded when they are shown first.

import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";

import { Heading } from "../parts/shell.tsx";
import * as ui from "../parts/ui.module.css";
import { explain } from "../state/messages.ts";
import { t } from "../texts/index.ts";

/** A component whose code is loaded when it is needed. If it cannot be loaded, the page says so and offers to try again. */
export function later<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  let loaded: ComponentType<P> | null = null;
  // biome-ignore lint/correctness/noComponentHookFactories: a view is made once, when the page begins
  return function Later(props: P) {
    const [, redraw] = useState(0);
    const [error, setError] = useState<unknown>(null);
    const begin = () => {
      setError(null);
      load().then((component) => {
        loaded = component;
        redraw((times) => times + 1);
      }, setError);
    };
    useEffect(() => void (loaded ?? begin()), []);
    if (loaded) {
      const View = loaded;
      return <View {...props} />;
    }
    if (error === null) return <p class={`${ui.narrow} ${ui.quiet}`}>{t("ui.loading")}</p>;
    return (
      <div class={ui.narrow}>
        <Heading title={t("later.failed")}>{t("later.failed")}</Heading>
        <p>{navigator.onLine ? explain(error) : t("network.offline")}</p>
        <button type="button" onClick={begin}>
          {t("study.again")}
        </button>
      </div>
    );
  };
}
