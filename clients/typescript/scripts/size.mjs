// Prints what parts of the package weigh in an application, minified and compressed, and fails if all of it weighs too much.

import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const LIMIT_BYTES = 15 * 1024;

const PARTS = {
  "everything": 'export * from "./dist/index.js";',
  "createClient": 'export { createClient } from "./dist/index.js";',
  "frames": 'export { frames } from "./dist/index.js";',
};

for (const [part, contents] of Object.entries(PARTS)) {
  const stdin = { contents, resolveDir: "." };
  const { outputFiles } = await build({ stdin, bundle: true, minify: true, format: "esm", target: "es2022", write: false });
  const bytes = gzipSync(outputFiles[0].contents, { level: 9 }).length;
  console.log(`${part}: ${outputFiles[0].contents.length} bytes, ${bytes} by gzip`);
  if (bytes > LIMIT_BYTES) {
    console.error(`more than ${LIMIT_BYTES} bytes by gzip`);
    process.exitCode = 1;
  }
}
