// Classes of the page in selectors, for what has neither a role nor a name.

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

import { classesOf } from "../../classes.ts";

const SOURCES = fileURLToPath(new URL("../src/", import.meta.url));

const modules = readdirSync(SOURCES, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".module.css"));

/** A selector in which braces name classes of modules, such as `{rows.gameRow} a`. */
export function css(selector: string): string {
  return selector.replace(/\{([\w-]+)\.(\w+)\}/g, (_, module: string, name: string) => {
    const file = modules.find((each) => basename(each) === `${module}.module.css`) ?? assert.fail(`no module is called ${module}`);
    return `.${classesOf(join(SOURCES, file)).get(name) ?? assert.fail(`${module} has no class ${name}`)}`;
  });
}
