// The options of a variant as fields, made from the schema that the server gives.

import { t } from "../../texts/index.ts";
import { optionTexts } from "../../texts/options/index.ts";
import { Check, type Errors, Line, Select } from "./fields.tsx";
import { barrier, type Clause, clausesOf, type Issue, type OptionField, type OptionValues, type Rule, type Schema } from "./schema.ts";
import type { Filled } from "./settings.ts";

export interface OptionsProps {
  schema: Schema;
  fields: readonly OptionField[];
  filled: Filled["options"];
  /** What would be sent. */
  values: OptionValues;
  errors: Errors;
  onChange(name: string, value: string | boolean): void;
}

export function Options(props: OptionsProps) {
  return (
    <>
      {props.fields.map((field) => (
        <Option key={field.name} field={field} props={props} />
      ))}
    </>
  );
}

function Option({ field, props }: { field: OptionField; props: OptionsProps }) {
  const { name, kind, byDefault, choices, min, max } = field;
  const { value: texts } = optionTexts;
  const blocked = barrier(props.schema, field, props.values);
  const about = texts.about(name, field.description);
  const described = {
    pointer: `/options/${name}`,
    label: texts.label(name),
    hint: blocked ? inWords(blocked) : about.text,
    hintLang: blocked ? undefined : about.lang,
    error: props.errors.get(`/options/${name}`),
    isDisabled: blocked !== null,
  };
  const filled = props.filled[name] ?? byDefault;
  const change = (value: string | boolean) => props.onChange(name, value);
  if (kind === "boolean") return <Check {...described} isChecked={filled === true} onChange={change} />;
  if (kind === "choice") {
    const shown = choices.map((choice) => ({ value: String(choice), label: texts.value(name, choice) }));
    return <Select {...described} value={String(filled)} choices={shown} onChange={change} />;
  }
  const isNumeric = kind === "integer" || kind === "number";
  return (
    <Line
      {...described}
      type={isNumeric ? "number" : "text"}
      value={String(filled ?? "")}
      min={min}
      max={max}
      step={kind === "integer" ? 1 : "any"}
      onInput={change}
    />
  );
}

/** What is wrong with an option, in words. */
export function issueInWords(issue: Issue): string {
  if (issue.type === "rule") return inWords(issue.rule);
  if (issue.type === "value") return t("form.value");
  const { min, max, isWhole } = issue;
  if (min === undefined || max === undefined) return t(isWhole ? "form.whole" : "form.number");
  return t(isWhole ? "form.whole-from-to" : "form.number-from-to", { min, max });
}

/** A rule in words: made from its two halves, or as the server says it where it has another form. */
function inWords(rule: Rule): string {
  const clauses = clausesOf(rule);
  if (!clauses) return rule.description.replaceAll("`", "");
  return t("form.rule", { given: listed(clauses.given), needed: listed(clauses.needed) });
}

function listed(clauses: readonly Clause[]): string {
  const { value: texts } = optionTexts;
  const said = clauses.map(({ option, values }) => {
    const label = texts.label(option);
    if (values.length === 0) return label;
    return `${label}: ${values.map((value) => texts.value(option, value)).join(" / ")}`;
  });
  return said.join(", ");
}
