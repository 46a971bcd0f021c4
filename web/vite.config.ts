// The build of the page. Its output is committed, so it must depend on nothing but the sources: no dates, no paths.

import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vite";

import { de } from "./src/texts/de.ts";
import { en } from "./src/texts/en.ts";
import { es } from "./src/texts/es.ts";
import { fr } from "./src/texts/fr.ts";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Tells the service worker which files to keep. Its own name is fixed, because a browser looks for changes at one address. */
function serviceWorker(): Plugin {
  return {
    name: "service-worker",
    generateBundle(_, bundle) {
      const worker = bundle["sw.js"];
      if (worker?.type !== "chunk") throw new Error("the build has no service worker");
      const files = Object.keys(bundle).filter((name) => name.startsWith("assets/")).sort();
      const release = createHash("sha256").update(files.join("\n")).update(worker.code).digest("hex").slice(0, 12);
      worker.code = worker.code
        .replaceAll("__FILES__", JSON.stringify(files.map((name) => `/${name}`)))
        .replaceAll("__RELEASE__", JSON.stringify(release));
    },
  };
}

/**
 * Builds a catalogue as a list of its texts, in the order of the keys of the English one, which every visit loads. The keys would be a third of each
 * catalogue. A test compares each built catalogue with its source.
 */
function catalogues(): Plugin {
  const modules = new Map(Object.entries({ de, es, fr }).map(([language, texts]) => [here(`src/texts/${language}.ts`), { language, texts }]));
  return {
    name: "catalogues",
    apply: "build",
    transform(_, id) {
      const module = modules.get(id);
      if (!module) return null;
      const texts = Object.keys(en).map((key) => module.texts[key as keyof typeof en]);
      const code = `import { byKey } from "./index.ts";\nexport const ${module.language} = byKey(${JSON.stringify(texts)});`;
      return { code, map: null };
    },
  };
}

/** What the server answers itself: the API, and the pages of games to share. */
const proxy = Object.fromEntries(["/v1", "/g/"].map((path) => [path, process.env["BASE_URL"] ?? "http://127.0.0.1:8080"]));

export default defineConfig({
  plugins: [serviceWorker(), catalogues()],
  resolve: {
    alias: {
      "@mancala-server/client": here("../clients/typescript/src/index.ts"),
      // The SDK's sources stand beside this folder, and its dependencies in this one.
      "openapi-fetch": here("node_modules/openapi-fetch"),
    },
  },
  esbuild: { jsx: "automatic", jsxImportSource: "preact", legalComments: "none" },
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rollupOptions: {
      input: { index: here("index.html"), sw: here("src/sw.ts") },
      output: { entryFileNames: ({ name }) => (name === "sw" ? "sw.js" : "assets/[name]-[hash].js") },
    },
  },
  // `npm run dev` beside a server of `cargo run`.
  server: { proxy },
  preview: { proxy },
});
