// Views that are loaded when they are first shown.

import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";

import { sayFailure } from "../state/messages.ts";
import { t } from "../texts/index.ts";

/** A view from a file of its own. */
export function lazy<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let loaded: ComponentType<Props> | undefined;
  return function Lazy(props: Props) {
    const [View, setView] = useState(() => loaded);
    useEffect(() => {
      if (loaded) return;
      load().then((view) => {
        loaded = view;
        setView(() => view);
      }, sayFailure);
    }, []);
    return View ? <View {...props} /> : <p class="quiet">{t("ui.loading")}</p>;
  };
}
