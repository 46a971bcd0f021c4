// The little of Markdown that the server's rules use, as elements: headings, paragraphs, lists, code. It makes no HTML from text,
// so whatever the text holds is shown as text.

import type { ComponentChildren } from "preact";

/** A block of a text. */
export type Block =
  | { type: "heading"; level: number; text: string }
  | { type: "paragraph"; text: string }
  | { type: "list"; isOrdered: boolean; items: string[] }
  | { type: "code"; text: string };

const ITEM = /^(?:[-*]|(\d+)\.) +(.*)$/;

/** The blocks of a text. What has no form of its own is a paragraph. */
export function blocksOf(markdown: string): Block[] {
  const blocks: Block[] = [];
  const lines = markdown.replaceAll("\r\n", "\n").split("\n");
  for (let n = 0; n < lines.length; ) n = take(lines, n, blocks);
  return blocks;
}

// Takes the block that begins at a line, and returns where the next one may begin.
function take(lines: readonly string[], from: number, blocks: Block[]): number {
  const line = lines[from] ?? "";
  if (line.trim() === "") return from + 1;
  if (line.startsWith("```")) return takeCode(lines, from + 1, blocks);
  const heading = /^(#{1,6}) +(.*?) *#*$/.exec(line);
  if (heading) {
    blocks.push({ type: "heading", level: heading[1]?.length ?? 1, text: heading[2] ?? "" });
    return from + 1;
  }
  if (ITEM.test(line)) return takeList(lines, from, blocks);
  let to = from + 1;
  while (isContinued(lines[to])) to += 1;
  blocks.push({
    type: "paragraph",
    text: lines
      .slice(from, to)
      .map((each) => each.trim())
      .join(" "),
  });
  return to;
}

function isContinued(line: string | undefined): boolean {
  return line !== undefined && line.trim() !== "" && !/^(?:```|#{1,6} |(?:[-*]|\d+\.) )/.test(line);
}

function takeCode(lines: readonly string[], from: number, blocks: Block[]): number {
  let to = from;
  while (to < lines.length && !lines[to]?.startsWith("```")) to += 1;
  blocks.push({ type: "code", text: lines.slice(from, to).join("\n") });
  return to + 1;
}

function takeList(lines: readonly string[], from: number, blocks: Block[]): number {
  const items: string[] = [];
  let to = from;
  for (; to < lines.length; to += 1) {
    const line = lines[to] ?? "";
    const item = ITEM.exec(line);
    if (item) items.push(item[2] ?? "");
    else if (/^\s+\S/.test(line)) items.push(`${items.pop() ?? ""} ${line.trim()}`);
    else break;
  }
  blocks.push({ type: "list", isOrdered: /^\d/.test(lines[from] ?? ""), items });
  return to;
}

/** Code, emphasis and strong text within a line. */
export function Inline({ text }: { text: string }) {
  const parts = text.split(/(`[^`]+`|\*\*[^*]+\*\*|\*[^*\s][^*]*\*)/);
  return <>{parts.map((part, n) => (n % 2 === 0 ? part : <Marked key={n} part={part} />))}</>;
}

function Marked({ part }: { part: string }) {
  if (part.startsWith("`")) return <code>{part.slice(1, -1)}</code>;
  if (part.startsWith("**")) return <strong>{part.slice(2, -2)}</strong>;
  return <em>{part.slice(1, -1)}</em>;
}

/** A text below a heading of the page. `code` may show a block of code in another way. */
export function Markdown({ blocks, code }: { blocks: readonly Block[]; code?(text: string, n: number): ComponentChildren }) {
  return (
    <>
      {blocks.map((block, n) => {
        if (block.type === "code") return code?.(block.text, n) ?? <pre key={n}>{block.text}</pre>;
        return <Part key={n} block={block} />;
      })}
    </>
  );
}

function Part({ block }: { block: Exclude<Block, { type: "code" }> }) {
  if (block.type === "paragraph") {
    return (
      <p>
        <Inline text={block.text} />
      </p>
    );
  }
  if (block.type === "heading") {
    const Tag = block.level <= 2 ? "h2" : "h3";
    return (
      <Tag>
        <Inline text={block.text} />
      </Tag>
    );
  }
  const List = block.isOrdered ? "ol" : "ul";
  return (
    <List>
      {block.items.map((item, n) => (
        <li key={n}>
          <Inline text={item} />
        </li>
      ))}
    </List>
  );
}
