// The JSON Schema of a variant's options (draft 2020-12), as far as a form needs it: fields, their bounds, and options that
// contradict each other. It knows no game: what the server sends is what the form has.

/** A schema, or a part of one. */
export type Schema = Readonly<Record<string, unknown>>;

export type OptionValue = string | number | boolean;
export type OptionValues = Readonly<Record<string, unknown>>;

/** An option that the form shows. */
export interface OptionField {
  name: string;
  kind: "integer" | "number" | "boolean" | "choice" | "text";
  description: string;
  /** What holds if the option is left out. */
  byDefault: unknown;
  choices: readonly OptionValue[];
  min: number | undefined;
  max: number | undefined;
  schema: Schema;
}

/** A rule about several options: the schema's own, with what it says in English. */
export interface Rule {
  schema: Schema;
  /** The options that it names. */
  options: readonly string[];
  description: string;
}

/** What is wrong with an option: its value alone, or together with others. */
export type Issue = { type: "number"; min: number | undefined; max: number | undefined; isWhole: boolean } | { type: "value" } | { type: "rule"; rule: Rule };

const record = (value: unknown): Schema => (typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Schema) : {});
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const number = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);
const isPlain = (value: unknown): value is OptionValue => ["string", "number", "boolean"].includes(typeof value);

/** The fields of a form. Options of a kind that no field can show are left at their defaults. */
export function fieldsOf(schema: Schema): OptionField[] {
  return Object.entries(record(schema["properties"])).flatMap(([name, property]) => {
    const kind = kindOf(record(property));
    return kind === null ? [] : [fieldOf(name, kind, record(property))];
  });
}

function fieldOf(name: string, kind: OptionField["kind"], schema: Schema): OptionField {
  const over = number(schema["exclusiveMinimum"]);
  const under = number(schema["exclusiveMaximum"]);
  return {
    name,
    kind,
    description: typeof schema["description"] === "string" ? schema["description"] : "",
    byDefault: schema["default"],
    choices: list(schema["enum"]).filter(isPlain),
    min: number(schema["minimum"]) ?? (over !== undefined && kind === "integer" ? over + 1 : over),
    max: number(schema["maximum"]) ?? (under !== undefined && kind === "integer" ? under - 1 : under),
    schema,
  };
}

function kindOf(schema: Schema): OptionField["kind"] | null {
  if (list(schema["enum"]).length > 0) return "choice";
  switch (schema["type"]) {
    case "integer":
    case "number":
    case "boolean":
      return schema["type"];
    case "string":
      return "text";
    default:
      return null;
  }
}

/** The rules about several options. */
export function rulesOf(schema: Schema): Rule[] {
  const parts = list(schema["allOf"]).map(record);
  const { if: condition, then: consequence, else: otherwise, anyOf, oneOf, not, dependentRequired } = schema;
  // biome-ignore lint/suspicious/noThenProperty: a word of JSON Schema
  const own = { if: condition, then: consequence, else: otherwise, anyOf, oneOf, not, dependentRequired };
  const present = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined));
  if (Object.keys(present).length > 0) parts.push(present);
  return parts.map((part) => {
    const description = typeof part["description"] === "string" ? part["description"] : "";
    return { schema: part, options: [...new Set(namesIn(part))], description };
  });
}

// The options that a schema speaks of, however deep.
function namesIn(schema: unknown): string[] {
  if (Array.isArray(schema)) return schema.flatMap(namesIn);
  return Object.entries(record(schema)).flatMap(([key, value]) => {
    if (key === "required") return list(value).filter((each) => typeof each === "string");
    if (key === "properties" || key === "dependentRequired") return Object.keys(record(value));
    return ["if", "then", "else", "allOf", "anyOf", "oneOf", "not"].includes(key) ? namesIn(value) : [];
  });
}

/** Whether a value is what a schema allows. Keywords that options do not use allow everything. */
export function allows(schema: unknown, value: unknown): boolean {
  if (typeof schema === "boolean") return schema;
  const { if: condition, then: consequence, else: otherwise, ...own } = record(schema);
  if (condition !== undefined) {
    const next = allows(condition, value) ? consequence : otherwise;
    if (next !== undefined && !allows(next, value)) return false;
  }
  return Object.entries(own).every(([keyword, wanted]) => KEYWORDS[keyword]?.(wanted, value, own) ?? true);
}

type Keyword = (wanted: unknown, value: unknown, schema: Schema) => boolean;

const isNumber = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value);
const isObject = (value: unknown) => typeof value === "object" && value !== null && !Array.isArray(value);

const KEYWORDS: Readonly<Record<string, Keyword>> = {
  type: (wanted, value) => [wanted].flat().some((type) => isOfType(type, value)),
  const: (wanted, value) => value === wanted,
  enum: (wanted, value) => list(wanted).includes(value),
  minimum: (wanted, value) => !isNumber(value) || value >= Number(wanted),
  maximum: (wanted, value) => !isNumber(value) || value <= Number(wanted),
  exclusiveMinimum: (wanted, value) => !isNumber(value) || value > Number(wanted),
  exclusiveMaximum: (wanted, value) => !isNumber(value) || value < Number(wanted),
  multipleOf: (wanted, value) => !isNumber(value) || Number.isInteger(value / Number(wanted)),
  minLength: (wanted, value) => typeof value !== "string" || [...value].length >= Number(wanted),
  maxLength: (wanted, value) => typeof value !== "string" || [...value].length <= Number(wanted),
  required: (wanted, value) => !isObject(value) || list(wanted).every((name) => Object.hasOwn(record(value), String(name))),
  properties: (wanted, value) =>
    Object.entries(record(wanted)).every(([name, part]) => !Object.hasOwn(record(value), name) || allows(part, record(value)[name])),
  additionalProperties: (wanted, value, { properties }) =>
    Object.entries(record(value)).every(([name, each]) => Object.hasOwn(record(properties), name) || allows(wanted, each)),
  dependentRequired: (wanted, value) =>
    Object.entries(record(wanted)).every(
      ([name, needed]) => !Object.hasOwn(record(value), name) || list(needed).every((each) => Object.hasOwn(record(value), String(each))),
    ),
  allOf: (wanted, value) => list(wanted).every((part) => allows(part, value)),
  anyOf: (wanted, value) => list(wanted).some((part) => allows(part, value)),
  oneOf: (wanted, value) => list(wanted).filter((part) => allows(part, value)).length === 1,
  not: (wanted, value) => !allows(wanted, value),
};

function isOfType(type: unknown, value: unknown): boolean {
  switch (type) {
    case "integer":
      return Number.isInteger(value);
    case "number":
      return isNumber(value);
    case "object":
      return isObject(value);
    case "array":
      return Array.isArray(value);
    case "null":
      return value === null;
    default:
      return typeof value === type;
  }
}

/** What is wrong with the values that would be sent, by option. */
export function issuesOf(schema: Schema, values: OptionValues): Map<string, Issue> {
  const issues = new Map<string, Issue>();
  for (const rule of rulesOf(schema)) {
    if (!allows(rule.schema, values)) for (const option of rule.options) issues.set(option, { type: "rule", rule });
  }
  for (const field of fieldsOf(schema)) {
    if (!Object.hasOwn(values, field.name) || allows(field.schema, values[field.name])) continue;
    const { kind, min, max } = field;
    const isNumeric = kind === "integer" || kind === "number";
    issues.set(field.name, isNumeric ? { type: "number", min, max, isWhole: kind === "integer" } : { type: "value" });
  }
  return issues;
}

/** The rule because of which an option cannot be given at all beside these values; null if it can. */
export function barrier(schema: Schema, field: OptionField, values: OptionValues): Rule | null {
  if (Object.hasOwn(values, field.name)) return null;
  const rules = rulesOf(schema).filter((rule) => rule.options.includes(field.name) && allows(rule.schema, values));
  let found: Rule | null = null;
  for (const candidate of candidatesOf(field)) {
    const broken = rules.find((rule) => !allows(rule.schema, { ...values, [field.name]: candidate }));
    if (!broken) return null;
    found = broken;
  }
  return found;
}

/** Values that stand for all that a field can have. */
function candidatesOf({ kind, choices, min, max, byDefault }: OptionField): unknown[] {
  if (kind === "boolean") return [true, false];
  if (kind === "choice") return [...choices];
  return [byDefault, min, max].filter((value) => value !== undefined);
}

/** What a condition of a rule says: each option with the values that it names, or without where it only has to be given. */
export interface Clause {
  option: string;
  values: readonly OptionValue[];
}

/** Both halves of a rule of the form "if this, then that"; null for a rule of another form. */
export function clausesOf({ schema }: Rule): { given: Clause[]; needed: Clause[] } | null {
  const { if: condition, then: consequence } = schema;
  if (condition === undefined || consequence === undefined) return null;
  const [given, needed] = [clauses(record(condition)), clauses(record(consequence))];
  return given.length > 0 && needed.length > 0 ? { given, needed } : null;
}

function clauses(schema: Schema): Clause[] {
  const properties = record(schema["properties"]);
  const names = new Set([...Object.keys(properties), ...list(schema["required"]).map(String)]);
  return [...names].map((option) => {
    const part = record(properties[option]);
    const values = "const" in part ? [part["const"]] : list(part["enum"]);
    return { option, values: values.filter(isPlain) };
  });
}
