// The part of Markdown that the server's rules are written in: headings, paragraphs, lists, drawings of code, and words of code.

import type { ComponentChildren } from "preact";

type Block = { kind: "heading" | "paragraph" | "drawing"; text: string } | { kind: "list"; items: string[] };

/** Splits a text into its blocks. Every line ends up in one of them. */
export function blocksOf(markdown: string): Block[] {
  const blocks: Block[] = [];
  let isDrawing = false;
  let isFresh = true;
  for (const line of markdown.split("\n")) {
    const last = blocks.at(-1);
    if (line.startsWith("```")) {
      isDrawing = !isDrawing;
      if (isDrawing) blocks.push({ kind: "drawing", text: "" });
      isFresh = true;
    } else if (isDrawing && last?.kind === "drawing") last.text += `${line}\n`;
    else if (line.trim() === "") isFresh = true;
    else if (line.startsWith("#")) {
      // The title of the text is that of the view.
      if (line.startsWith("##")) blocks.push({ kind: "heading", text: line.replace(/^#+\s*/, "") });
      isFresh = true;
    } else if (line.startsWith("- ")) {
      if (last?.kind === "list") last.items.push(line.slice(2));
      else blocks.push({ kind: "list", items: [line.slice(2)] });
      isFresh = false;
    } else if (!isFresh && last?.kind === "list") last.items.push(`${last.items.pop() ?? ""} ${line.trim()}`);
    else if (!isFresh && last?.kind === "paragraph") last.text += ` ${line}`;
    else {
      blocks.push({ kind: "paragraph", text: line });
      isFresh = false;
    }
  }
  return blocks;
}

export function Words({ text }: { text: string }): ComponentChildren {
  return text.split("`").map((part, n) => (n % 2 === 1 ? <code key={n}>{part}</code> : part));
}

export function Markdown({ text }: { text: string }) {
  return (
    <>
      {blocksOf(text).map((block, n) => {
        switch (block.kind) {
          case "heading":
            return (
              <h2 key={n}>
                <Words text={block.text} />
              </h2>
            );
          case "drawing":
            return (
              <pre key={n} tabIndex={0} dir="ltr">
                {block.text}
              </pre>
            );
          case "list":
            return (
              <ul key={n}>
                {block.items.map((item, m) => (
                  <li key={m}>
                    <Words text={item} />
                  </li>
                ))}
              </ul>
            );
          default:
            return (
              <p key={n}>
                <Words text={block.text} />
              </p>
            );
        }
      })}
    </>
  );
}
