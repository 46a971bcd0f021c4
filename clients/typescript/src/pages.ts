// Lists that span pages, as iterators.

/** Reads page after page, each when its first item is asked for. */
export async function* paginate<T>(
  page: (cursor: string | undefined) => Promise<{ items: T[]; next_cursor: string | null }>,
): AsyncGenerator<T, void, undefined> {
  let cursor: string | undefined;
  do {
    const { items, next_cursor } = await page(cursor);
    yield* items;
    cursor = next_cursor ?? undefined;
    // A page may be empty and not the last.
  } while (cursor !== undefined);
}
