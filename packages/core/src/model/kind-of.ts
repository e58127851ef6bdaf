/** What `value` is, with its article, for messages to programmers: `a string`, `an Array`, `null`. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  const kind = typeof value === 'object' ? classOf(value) : typeof value
  return `${/^[aeio]/iu.test(kind) ? 'an' : 'a'} ${kind}`
}

function classOf(value: object): string {
  // Not the name of its constructor: builds shorten those.
  const { name } = (value.constructor as { readonly name?: unknown } | undefined) ?? {}
  return typeof name === 'string' && name !== '' ? name : 'Object'
}
