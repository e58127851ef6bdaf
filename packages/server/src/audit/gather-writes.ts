/**
 * `write` for many callers: only one call of it runs at a time, and takes all that came while the one before ran. What
 * it returns resolves when the item has been written; `write` must not reject.
 */
export function gatherWrites<Item>(
  write: (items: readonly Item[]) => Promise<void>,
): (item: Item) => Promise<void> {
  let last = Promise.resolve()
  let next: { readonly items: Item[]; readonly written: Promise<void> } | undefined
  const start = () => {
    const items: Item[] = []
    last = last.then(() => {
      next = undefined
      return write(items)
    })
    return { items, written: last }
  }
  return (item) => {
    next ??= start()
    next.items.push(item)
    return next.written
  }
}
