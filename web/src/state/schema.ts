// A form from the JSON Schema of a preset's options: what can be chosen, and what is sent. It knows no game.

/** A value of an option. */
export type OptionValue = number | boolean | string;

/** What a property of the schema has. */
interface Property {
  type?: string;
  description?: string;
  default?: OptionValue;
  minimum?: number;
  maximum?: number;
  enum?: unknown[];
}

/** A part of the form. */
export type OptionField = { name: string; description: string; initial: OptionValue } & (
  | { kind: "integer"; min: number; max: number }
  | { kind: "boolean" }
  | { kind: "choice"; values: string[] }
);

/** The fields of a schema. What the form cannot show is left out, and has its default. */
export function fieldsOf(schema: unknown): OptionField[] {
  const { properties = {} } = (schema ?? {}) as { properties?: Record<string, Property> };
  return Object.entries(properties).flatMap(([name, property]): OptionField[] => {
    const { type, description = "", default: initial } = property;
    if (initial === undefined) return [];
    const values = property.enum?.filter((value) => typeof value === "string");
    if (values && values.length > 0) return [{ name, description, initial, kind: "choice", values }];
    if (type === "boolean") return [{ name, description, initial, kind: "boolean" }];
    if (type === "integer") return [{ name, description, initial, kind: "integer", min: property.minimum ?? 0, max: property.maximum ?? 1000 }];
    return [];
  });
}

/** What the player has changed: this is sent, and not the whole form, because some options may be given only with others. */
export function changed(fields: readonly OptionField[], values: Readonly<Record<string, OptionValue>>): Record<string, OptionValue> {
  const differing = fields.filter(({ name, initial }) => values[name] !== undefined && values[name] !== initial);
  return Object.fromEntries(differing.map(({ name }) => [name, values[name] as OptionValue]));
}

/** Whether a condition of a schema holds, as far as these schemas use conditions: `properties` with `const` or `enum`, `required`. */
function holds(condition: unknown, values: Readonly<Record<string, unknown>>): boolean {
  const { properties = {}, required = [] } = (condition ?? {}) as { properties?: Record<string, { const?: unknown; enum?: unknown[] }>; required?: string[] };
  const isThere = required.every((name) => values[name] !== undefined);
  const isSo = Object.entries(properties).every(([name, wanted]) => {
    const value = values[name];
    if (value === undefined) return true;
    if ("const" in wanted) return value === wanted.const;
    return !wanted.enum || wanted.enum.includes(value);
  });
  return isThere && isSo;
}

/** Why these options contradict each other, in the schema's words. */
export function contradictions(schema: unknown, options: Readonly<Record<string, OptionValue>>): string[] {
  const { allOf = [] } = (schema ?? {}) as { allOf?: { description?: string; if?: unknown; then?: unknown }[] };
  const broken = allOf.filter((rule) => holds(rule.if, options) && !holds(rule.then, options));
  return broken.map(({ description = "" }) => description);
}
