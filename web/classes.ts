// The classes of the page: their names in the built page, their types, and what does not build. CSS modules are `src/**/*.module.css`.

import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import postcss, { type AtRule, type Container, type Rule } from "postcss";

const ENDING = ".module.css";

/** `board` of `src/board/board.module.css`. */
const nameOf = (file: string) => basename(file, ENDING);

/** A class in a selector, which `[^…]` of an attribute's value does not contain. */
const CLASS = /\.([a-zA-Z_]\w*)/g;

/** The classes of a module in the order of their first rules, and their names in the page: short, the same in every build, and of this module alone. */
export function classesOf(file: string, css = readFileSync(file, "utf8")): ReadonlyMap<string, string> {
  const found = new Set<string>();
  postcss.parse(css).walkRules(({ selector }) => {
    for (const [, each] of selector.matchAll(CLASS)) if (each !== undefined) found.add(each);
  });
  return new Map([...found].map((each, n) => [each, prefixOf(nameOf(file)) + n.toString(36)]));
}

/** Two letters for a module. `check` refuses two modules that share them. */
function prefixOf(module: string): string {
  const [one = 0, other = 0] = createHash("sha256").update(module).digest();
  return String.fromCharCode(97 + (one % 26), 97 + (other % 26));
}

/** Checks all stylesheets and their uses in a folder of sources, and writes the types of the modules: all of it in `types`. */
export function checkClasses(sources: string, document: string, types: string): void {
  const files = readdirSync(sources, { recursive: true, encoding: "utf8" })
    .sort()
    .map((file) => join(sources, file));
  const faults: string[] = [];
  const modules = files.filter((file) => file.endsWith(ENDING));
  const scripts = [...files.filter((file) => /\.tsx?$/.test(file)), document].map((file) => readFileSync(file, "utf8"));
  const written = `// Written by the build: the classes of each module.\n\n${modules.map(typesOf).join("\n")}`;
  if (written !== readFileSync(types, { encoding: "utf8", flag: "a+" })) writeFileSync(types, written);
  const prefixes = new Map<string, string>();
  for (const file of modules) {
    const prefix = prefixOf(nameOf(file));
    const other = prefixes.get(prefix);
    if (other !== undefined) faults.push(`${file}: its classes would be called as those of ${other}: rename one of the files`);
    prefixes.set(prefix, file);
  }
  for (const file of files.filter((each) => each.endsWith(".css"))) {
    const css = readFileSync(file, "utf8");
    for (const twice of twiceIn(postcss.parse(css, { from: file }))) faults.push(`${file}: two rules for ${twice}`);
    const classes = classesOf(file, css);
    if (!file.endsWith(ENDING) && classes.size > 0) faults.push(`${file}: only modules have classes`);
    if (file.endsWith(ENDING))
      for (const each of classes.keys()) if (!scripts.some((script) => uses(script, nameOf(file), each))) faults.push(`${file}: nothing uses .${each}`);
  }
  if (faults.length > 0) throw new Error(faults.join("\n"));
}

function typesOf(file: string): string {
  const names = [...classesOf(file).keys()].map((each) => `  export const ${each}: string;\n`);
  return `declare module "*/${nameOf(file)}${ENDING}" {\n${names.join("")}}\n`;
}

/** What of a syntax tree is looked at. */
interface Node {
  type: string;
  start: number;
  end: number;
  name?: string;
  source?: { value: string };
  specifiers?: { local: { name: string } }[];
  computed?: boolean;
  object?: Node;
  property?: Node;
}

/** The stylesheet of a module, with the names of the page. */
export function plainOf(file: string): string {
  const css = readFileSync(file, "utf8");
  const classes = classesOf(file, css);
  const root = postcss.parse(css, { from: file });
  root.walkRules((rule) => {
    rule.selector = rule.selector.replace(CLASS, (_, each: string) => `.${classes.get(each)}`).replace(/:global\(([^)]*)\)/g, "$1");
  });
  return root.toString();
}

/** A script with the names of classes in place of their modules, of which it imports the plain stylesheets. */
export function withNames(script: string, file: string, tree: object, plain: string): string {
  const nodes = [...nodesOf(tree)];
  const modules = new Map<string, ReadonlyMap<string, string>>();
  const edits: [Node, string][] = [];
  for (const node of nodes) {
    if (!node.source?.value.endsWith(ENDING)) continue;
    const module = join(dirname(file), node.source.value);
    for (const { local } of node.specifiers ?? []) modules.set(local.name, classesOf(module));
    edits.push([node, `import ${JSON.stringify(module + plain)};`]);
  }
  for (const node of nodes) {
    const classes = node.type === "MemberExpression" && !node.computed ? modules.get(node.object?.name ?? "") : undefined;
    if (!classes) continue;
    const name = classes.get(node.property?.name ?? "");
    if (name === undefined) throw new Error(`${file}: there is no class ${script.slice(node.start, node.end)}`);
    edits.push([node, JSON.stringify(name)]);
  }
  edits.sort(([one], [other]) => other.start - one.start);
  return edits.reduce((code, [{ start, end }, text]) => code.slice(0, start) + text + code.slice(end), script);
}

function* nodesOf(value: unknown): Generator<Node> {
  if (typeof value !== "object" || value === null) return;
  if ("type" in value) yield value as Node;
  for (const part of Object.values(value)) yield* nodesOf(part);
}

/** Whether a script reads a class of a module that it imports, or the document names it. */
function uses(script: string, module: string, name: string): boolean {
  if (script.includes(`{{.${module}.${name}}}`)) return true;
  const [, alias] = new RegExp(`import \\* as (\\w+) from "[^"]*/${module}\\${ENDING}"`).exec(script) ?? [];
  return alias !== undefined && new RegExp(`\\b${alias}\\.${name}\\b`).test(script);
}

/** Selectors that have two rules under the same conditions. What several share may stand in a rule for all of them. */
function twiceIn(root: Container): string[] {
  const seen = new Set<string>();
  const twice: string[] = [];
  root.walkRules((rule) => {
    const key = [...conditionsOf(rule), rule.selector.replace(/\s+/g, " ")].join(" ");
    if (seen.has(key)) twice.push(key);
    seen.add(key);
  });
  return twice;
}

function conditionsOf({ parent }: Rule | AtRule): string[] {
  return parent?.type === "atrule" ? [...conditionsOf(parent as AtRule), `@${(parent as AtRule).name} ${(parent as AtRule).params}`] : [];
}
