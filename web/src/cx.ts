/** The classes that hold, in one attribute. */
export const cx = (...classes: readonly (string | false | undefined)[]): string => classes.filter(Boolean).join(" ");
