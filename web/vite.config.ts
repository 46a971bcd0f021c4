// The build of the page. Its output is committed, so it must depend on nothing but the sources: no dates, no paths.

import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vite";

import { checkClasses, classesOf, plainOf, withNames } from "./classes.ts";
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
    // Last: until then the bundle has a script for each stylesheet.
    enforce: "post",
    generateBundle(_, bundle) {
      const worker = bundle["sw.js"];
      if (worker?.type !== "chunk") throw new Error("the build has no service worker");
      const files = Object.keys(bundle)
        .filter((name) => name.startsWith("assets/"))
        .sort();
      const release = createHash("sha256").update(files.join("\n")).update(worker.code).digest("hex").slice(0, 12);
      worker.code = worker.code.replaceAll("__FILES__", JSON.stringify(files.map((name) => `/${name}`))).replaceAll("__RELEASE__", JSON.stringify(release));
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

/**
 * Checks the classes and writes their types. The build puts the names of classes where scripts use them, and leaves plain stylesheets: a name is shorter than
 * what would import it. While developing, Vite's CSS modules do the same.
 */
function cssModules(): Plugin {
  const plain = ".module.css.css";
  let isBuild = false;
  return {
    name: "css-modules",
    configResolved(config) {
      isBuild = config.command === "build";
    },
    buildStart() {
      checkClasses(here("src"), here("index.html"), here("src/classes.d.ts"));
    },
    resolveId: (id) => (id.endsWith(plain) ? id : null),
    load: (id) => (id.endsWith(plain) ? plainOf(id.slice(0, -".css".length)) : null),
    transform(code, id) {
      return isBuild && id.endsWith(".tsx") ? { code: withNames(code, id, this.parse(code), ".css"), map: null } : null;
    },
  };
}

/** Two stylesheets: one with the page, and one with the first view that is studied. */
function styles(id: string): string | undefined {
  if (!id.endsWith(".css")) return undefined;
  return /\/src\/views\/(?!account|home)/.test(id) ? "study" : "styles";
}

/** The name of a class in the page. */
function classIn(file: string, name: string): string {
  return classesOf(file).get(name) ?? fail(`${file} has no class ${name}`);
}

function fail(message: string): never {
  throw new Error(message);
}

/** The opening board as the page draws it, without styles in elements. */
function drawing(): string {
  const css = (name: string) => classIn(here("src/board/board.module.css"), name);
  const shape = shapeOf(OPENING, "south", false);
  const { width, height, spots } = shape;
  const rect = (kind: string, x: number, y: number, w: number, h: number, rx: number) =>
    `<rect class="${css(kind)}" x="${x}" y="${y}" width="${w}" height="${h}" rx="${rx}"/>`;
  const wood =
    rect("under", 4, 8, width - 8, height - 10, 46) + rect("wood", 4, 3, width - 8, height - 10, 46) + rect("edge", 6, 5, width - 12, height - 14, 44);
  const hollows = [...spots.values()].map(({ x, y, rx, ry, kind, count }) => {
    const corner = kind === "pit" ? Math.min(rx, ry) : 40;
    const hole = rect("rim", x - rx - 3, y - ry - 3, 2 * rx + 6, 2 * ry + 6, corner + 3) + rect("hole", x - rx, y - ry, 2 * rx, 2 * ry, corner);
    return `${hole}<text class="${kind === "pit" ? css("count") : `${css("count")} ${css("store")}`}" x="${count.x}" y="${count.y}">${kind === "pit" ? OPENING.south.pits[0] : 0}</text>`;
  });
  const seeds = draw(settle(null, OPENING, totalOf(OPENING)), shape, null).map(
    ({ id, x, y }) => `<use href="#seed" class="${css(`tone${id % 5}`)}" x="${Math.round(x)}" y="${Math.round(y)}"/>`,
  );
  return `<svg class="${css("drawing")}" viewBox="0 0 ${width} ${height}" aria-hidden="true"><g class="${css("counts")}">${wood}${hollows.join("")}</g>${seeds.join("")}</svg>`;
}

/** Fills the document with what it shows before the page is there, its classes too, and names the script that comes first. */
function shell(): Plugin {
  const texts: Record<string, unknown> = { ...en, board: drawing() };
  const modules = new Map(
    Object.entries({ board: "board/board", home: "views/home/home", shell: "parts/shell", starts: "parts/starts", ui: "parts/ui" }).map(([name, path]) => [
      name,
      here(`src/${path}.module.css`),
    ]),
  );
  return {
    name: "shell",
    transformIndexHtml: {
      order: "post",
      handler(html, { bundle }) {
        const script = Object.keys(bundle ?? {}).find((name) => name.startsWith("assets/shell-"));
        const filled = html.replace(/\{\{([\w.-]+)\}\}/g, (_, key: string) => {
          const [, module, name] = /^\.([\w-]+)\.(\w+)$/.exec(key) ?? [];
          if (module !== undefined && name !== undefined) return classIn(modules.get(module) ?? fail(`there is no module ${module}`), name);
          return typeof texts[key] === "string" ? texts[key] : fail(`the document needs a text "${key}"`);
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
  plugins: [serviceWorker(), catalogues(), cssModules(), shell()],
  css: { modules: { generateScopedName: (name, file, css) => classesOf(file, css).get(name) ?? fail(`${file} has no class ${name}`) } },
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
      output: {
        experimentalMinChunkSize: 6000,
        manualChunks: styles,
        entryFileNames: ({ name }) => (name === "sw" ? "sw.js" : "assets/[name]-[hash].js"),
      },
    },
  },
  // `npm run dev` beside a server of `cargo run`.
  server: { proxy },
  preview: { proxy },
});
