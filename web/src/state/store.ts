// Stores of views: a class with signals, for what lives as long as a view.

import { useLayoutEffect, useMemo } from "preact/hooks";

/** A store that begins when its view is shown, and ends with it. Its constructor does nothing outside of it: a view that is drawn may never be shown. */
export interface Store {
  /** Begins what goes on: requests, subscriptions, timers. */
  open(): void;
  /** Ends all that `open` began. */
  close(): void;
}

/** The store of a view, and another one with other keys. */
export function useStore<S extends Store>(create: () => S, keys: readonly unknown[]): S {
  const store = useMemo(create, keys);
  useLayoutEffect(() => {
    store.open();
    return () => store.close();
  }, [store]);
  return store;
}
