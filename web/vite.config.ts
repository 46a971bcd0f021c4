// The build of the page. Its output is committed, so it must depend on nothing but the sources: no dates, no paths.

import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vite";

import { draw, settle, totalOf } from "./src/board/seeds.ts";
import { shapeOf } from "./src/board/shape.ts";
import { de } from "./src/texts/de.ts";
import { en } from "./src/texts/en.ts";
import { es } from "./src/texts/es.ts";
import { fr } from "./src/texts/fr.ts";
import { OPENING } from "./src/views/home/opening.ts";

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

/** The opening board as the page draws it, without styles in elements. */
function drawing(): string {
  const shape = shapeOf(OPENING, "south", false);
  const { width, height, spots } = shape;
  const rect = (kind: string, x: number, y: number, w: number, h: number, rx: number) => `<rect class="${kind}" x="${x}" y="${y}" width="${w}" height="${h}" rx="${rx}"/>`;
  const wood = rect("under", 4, 8, width - 8, height - 10, 46) + rect("wood", 4, 3, width - 8, height - 10, 46) + rect("edge", 6, 5, width - 12, height - 14, 44);
  const hollows = [...spots.values()].map(({ x, y, rx, ry, kind, count }) => {
    const corner = kind === "pit" ? Math.min(rx, ry) : 40;
    const hole = rect("rim", x - rx - 3, y - ry - 3, 2 * rx + 6, 2 * ry + 6, corner + 3) + rect("hole", x - rx, y - ry, 2 * rx, 2 * ry, corner);
    return `${hole}<text class="count ${kind}" x="${count.x}" y="${count.y}">${kind === "pit" ? OPENING.south.pits[0] : 0}</text>`;
  });
  const seeds = draw(settle(null, OPENING, totalOf(OPENING)), shape, null).map(
    ({ id, x, y }) => `<use href="#seed" class="tone${id % 5}" x="${Math.round(x)}" y="${Math.round(y)}"/>`,
  );
  return `<svg class="drawing" viewBox="0 0 ${width} ${height}" aria-hidden="true"><g class="counts">${wood}${hollows.join("")}</g>${seeds.join("")}</svg>`;
}

/** Fills the document with what it shows before the page is there, and names the script that comes first. */
function shell(): Plugin {
  const texts: Record<string, unknown> = { ...en, board: drawing() };
  return {
    name: "shell",
    transformIndexHtml: {
      order: "post",
      handler(html, { bundle }) {
        const script = Object.keys(bundle ?? {}).find((name) => name.startsWith("assets/shell-"));
        const filled = html.replace(/\{\{([\w.-]+)\}\}/g, (_, key: string) => {
          if (typeof texts[key] !== "string") throw new Error(`the document needs a text "${key}"`);
          return texts[key];
        });
        // A module would run after the first paint.
        return { html: filled, tags: script === undefined ? [] : [{ tag: "script", attrs: { src: `/${script}` }, injectTo: "head" as const }] };
      },
    },
  };
}

/** What the server answers itself: the API, and the pages of games to share. */
const proxy = Object.fromEntries(["/v1", "/g/"].map((path) => [path, process.env["BASE_URL"] ?? "http://127.0.0.1:8080"]));

export default defineConfig({
  plugins: [serviceWorker(), catalogues(), shell()],
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
      input: { index: here("index.html"), shell: here("src/shell.ts"), sw: here("src/sw.ts") },
      // Small files that are loaded together anyway are one: each has its own overhead.
      output: { experimentalMinChunkSize: 6000, entryFileNames: ({ name }) => (name === "sw" ? "sw.js" : "assets/[name]-[hash].js") },
    },
  },
  // `npm run dev` beside a server of `cargo run`.
  server: { proxy },
  preview: { proxy },
});
