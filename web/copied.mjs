// Checks the section "Copy these ten files" of README.md: the files are there, and import what the table says, and nothing else.

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const [, section = ""] = readFileSync("README.md", "utf8").split("## Copy these ten files\n");
const [table = ""] = section.split("\n## ");
const rows = [...table.matchAll(/^\| `(src\/[^`]+)` \|[^|]*\|([^|]*)\|$/gm)].map(([, file, needs]) => ({
  file,
  needs: [...needs.matchAll(/`([^`]+)`/g)].map(([, name]) => name),
}));
const files = rows.map(({ file }) => file);

/** What a file imports, from the root of the page. */
function importsOf(file) {
  const found = [...readFileSync(file, "utf8").matchAll(/^(?:import|export|\}) .*from "([^"]+)";$|^import "([^"]+)";$/gm)].map(
    ([, from, alone]) => from ?? alone,
  );
  return found.map((path) => (path.startsWith(".") ? join(dirname(file), path) : path));
}

const faults = rows.flatMap(({ file, needs }) => {
  const others = importsOf(file).filter((each) => !files.includes(each));
  return [
    ...others.filter((each) => !needs.includes(each)).map((each) => `${file} needs ${each}, which README.md does not say`),
    ...needs.filter((each) => !others.includes(each)).map((each) => `README.md says that ${file} needs ${each}`),
  ];
});
if (files.length !== 10) faults.push(`README.md names ${files.length} files to copy, not ten`);
if (faults.length > 0) {
  console.error(faults.join("\n"));
  process.exit(1);
}
