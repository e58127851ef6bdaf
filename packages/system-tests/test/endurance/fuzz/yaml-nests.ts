import fc from 'fast-check'

/** Small YAML that would be large: deep nests, and aliases of aliases, behind `prefix`. */
export function yamlNests(prefix: string): fc.Arbitrary<string> {
  const depth = fc.oneof(fc.nat(20), fc.nat(2_000))
  const nest = fc
    .tuple(fc.constantFrom(...nests), depth)
    .map(([[open, close], depth]) => open.repeat(depth) + close.repeat(depth))
  const indented = fc
    .nat(300)
    .map((depth) => Array.from({ length: depth }, (_, at) => `${' '.repeat(at)}a:\n`).join(''))
  return fc.oneof(
    fc.tuple(fc.constantFrom('', prefix), nest).map(([begin, text]) => begin + text),
    indented,
    fc.tuple(fc.nat(12), fc.nat(12)).map(([levels, width]) => laughs(levels, width) + prefix),
  )
}

const nests = [
  ['[', ']'],
  ['{a: ', '}'],
  ['- ', ''],
  ['? ', ''],
  ['[', ''],
  ['{"":', '}'],
  ['!a ', ''],
  ['"', '"'],
] as const

/** A list of lists of lists, each of the one before many times over. */
function laughs(levels: number, width: number): string {
  const lines = Array.from({ length: levels }, (_, level) => {
    const items =
      level === 0
        ? 'x'
        : Array(width)
            .fill(`*a${level - 1}`)
            .join(', ')
    return `a${level}: &a${level} [${items}]\n`
  })
  return lines.join('')
}
