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
