/** Does `work` for each of `items`, `atOnce` at a time; resolves with what it brought, in the order of the items. */
export async function inTurns<Item, Result>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  const left = items.entries()
  const worker = async () => {
    for (const [at, item] of left) results[at] = await work(item)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return results
}
