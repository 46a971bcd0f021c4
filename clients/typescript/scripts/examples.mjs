// Writes the examples of README.md as modules of a project: `node scripts/examples.mjs FOLDER`. The first one is a whole program;
// the others use its client, and a game.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

const folder = process.argv[2];
const readme = await readFile("README.md", "utf8");
const [program, ...parts] = [...readme.matchAll(/^```ts\n([^]*?)^```$/gm)].map(([, code]) => code);

// The program takes the server's address as its argument.
const address = '"http://127.0.0.1:8080"';
if (!program?.includes(address)) throw new Error(`the first example does not name ${address}`);
await writeFile(join(folder, "program.ts"), program.replace(address, "process.argv[2]!"));

const prelude = `import { createClient, frames, MancalaError, sameBoard, type Board, type Client, type Failure, type Game, type Move } from "@mancala-server/client";
declare const client: Client;
declare const game: Game;
declare function show(...what: unknown[]): void;
`;
// An example with imports of its own brings all that it needs.
for (const [n, code] of parts.entries()) {
  await writeFile(join(folder, `part${n + 1}.ts`), /^import /m.test(code) ? code : `${prelude}${code}\nexport {};\n`);
}
await writeFile(join(folder, "async-storage.d.ts"), `declare module "@react-native-async-storage/async-storage" {
  const storage: {
    getItem(key: string): Promise<string | null>;
    setItem(key: string, value: string): Promise<void>;
    removeItem(key: string): Promise<void>;
  };
  export default storage;
}
`);
console.log(`${1 + parts.length} examples`);
