interface Named {
  readonly name: string
}

/** The selection with `name` in it if it was not, and without it if it was. */
export function toggle(selected: ReadonlySet<string>, name: string): ReadonlySet<string> {
  const others = [...selected].filter((each) => each !== name)
  return new Set(others.length < selected.size ? others : [...selected, name])
}

/** The selection with all from one place of the list to another, both included. */
export function selectRange(
  selected: ReadonlySet<string>,
  files: readonly Named[],
  from: number,
  to: number,
): ReadonlySet<string> {
  const range = files.slice(Math.min(from, to), Math.max(from, to) + 1)
  return new Set([...selected, ...range.map(({ name }) => name)])
}

/** What a key does in the list: it moves to another row, or does something with the one that has the focus. */
type GridKey =
  | ((current: number, last: number, page: number) => number)
  | 'open'
  | 'select'
  | 'selectAll'
  | 'clear'
  | 'delete'

/** Of a `KeyboardEvent`. */
interface KeyPress {
  readonly key: string
  readonly ctrlKey: boolean
  readonly metaKey: boolean
}

const moves: Readonly<Record<string, Extract<GridKey, (...args: never) => number>>> = {
  ArrowDown: (current, last) => Math.min(current + 1, last),
  ArrowUp: (current) => Math.max(current - 1, 0),
  PageDown: (current, last, page) => Math.min(current + page, last),
  PageUp: (current, _last, page) => Math.max(current - page, 0),
  Home: () => 0,
  End: (_current, last) => last,
}

/** `undefined` for keys that the list leaves alone: those of a button within a row are its own. */
export function gridKey(
  { key, ctrlKey, metaKey }: KeyPress,
  isOnRow: boolean,
): GridKey | undefined {
  if ((ctrlKey || metaKey) && key === 'a') return 'selectAll'
  if (ctrlKey || metaKey) return undefined
  if (Object.hasOwn(moves, key)) return moves[key]
  if (key === 'Delete') return 'delete'
  if (key === 'Escape') return 'clear'
  if (!isOnRow) return undefined
  if (key === 'Enter') return 'open'
  return key === ' ' ? 'select' : undefined
}
