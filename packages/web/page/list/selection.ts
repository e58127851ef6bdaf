interface Named {
  readonly name: string
}

/** Adds `name` to the selection, or removes it if it was selected. */
export function toggle(selected: ReadonlySet<string>, name: string): ReadonlySet<string> {
  const others = [...selected].filter((each) => each !== name)
  return new Set(others.length < selected.size ? others : [...selected, name])
}

/** The selection, plus all files from one index to another, inclusive. */
export function selectRange(
  selected: ReadonlySet<string>,
  files: readonly Named[],
  from: number,
  to: number,
): ReadonlySet<string> {
  const range = files.slice(Math.min(from, to), Math.max(from, to) + 1)
  return new Set([...selected, ...range.map(({ name }) => name)])
}

/** How long letters that are typed belong together, in ms. */
const typingMs = 800

interface TypingPlace {
  readonly current: number
  /** What the list leaves out at the beginning of each name. */
  readonly prefix: string
}

/** The letter that a key press adds to a name; `undefined` for shortcuts, and for keys with another meaning. */
export function typedLetter({
  key,
  ctrlKey,
  metaKey,
  altKey,
}: KeyPress & { readonly altKey: boolean }): string | undefined {
  const isShortcut = ctrlKey || metaKey || altKey || key === '/' || key === ' '
  return isShortcut || Array.from(key).length !== 1 ? undefined : key
}

/** Finds the file whose name begins with the letters that are typed in the list, from the row `current` on. */
export function createTypeAhead(now: () => number = () => performance.now()) {
  let typed = ''
  let last = -Infinity
  return (
    key: string,
    files: readonly Named[],
    { current, prefix }: TypingPlace,
  ): number | undefined => {
    const isNew = now() - last > typingMs
    last = now()
    const letter = key.toLowerCase()
    // The same letter again leads to the next file that begins with it.
    const isAgain = isNew || typed === letter
    typed = isAgain ? letter : typed + letter
    const from = isAgain ? current + 1 : current
    for (let step = 0; step < files.length; step++) {
      const index = (from + step) % files.length
      if (files[index]?.name.slice(prefix.length).toLowerCase().startsWith(typed)) return index
    }
    return undefined
  }
}

/** What a key does in the list: it moves to another row, or acts on the focused one. */
type GridKey =
  | ((current: number, last: number, page: number) => number)
  | 'open'
  | 'select'
  | 'selectAll'
  | 'clear'
  | 'rename'
  | 'delete'

/** The members used of a `KeyboardEvent`. */
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

/** `undefined` for keys that the list ignores: a button within a row handles its own keys. */
export function gridKey(
  { key, ctrlKey, metaKey }: KeyPress,
  isOnRow: boolean,
): GridKey | undefined {
  if ((ctrlKey || metaKey) && key === 'a') return 'selectAll'
  if (ctrlKey || metaKey) return undefined
  if (Object.hasOwn(moves, key)) return moves[key]
  if (key === 'Delete') return 'delete'
  if (key === 'F2') return 'rename'
  if (key === 'Escape') return 'clear'
  if (!isOnRow) return undefined
  if (key === 'Enter') return 'open'
  return key === ' ' ? 'select' : undefined
}
