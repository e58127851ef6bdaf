import fc from 'fast-check'

/** One change to bytes. Places are ten-thousandths of the whole, so that they fit every length. */
export type Mutation = (bytes: Buffer) => Buffer

/** Numbers at whose edges programs go wrong, in the ways people write them. */
const numbers = [
  ...['0', '1', '-1', '00', '+1', '1.5', '1e3', '0x10', '127', '128', '255', '256', '65535'],
  ...['65536', '2147483647', '2147483648', '4294967295', '4294967296', '9007199254740991'],
  ...['9007199254740992', '9007199254740993', '18446744073709551615', '18446744073709551616'],
  ...['9'.repeat(400), '\u0663', 'NaN', ''],
]

/** What has a meaning to some parser or other. */
const tokens = [
  ...[
    '\r\n',
    '\n',
    '\r',
    '\0',
    '\t',
    ' ',
    '"',
    '\\',
    '%',
    '%00',
    '%0a',
    '%2f',
    '%',
    '--',
    '\r\n\r\n',
  ],
  ...[
    ':',
    ';',
    ',',
    '=',
    '/',
    '..',
    '*',
    '&',
    '?',
    '#',
    '\u00e9',
    '\x7f',
    '\xff',
    '\xfe\xff',
    '[',
    '{',
  ],
]

const place = fc.nat(9_999)
const length = fc.oneof(fc.nat(4), fc.nat(40))

/** Up to `maxLength` changes, of which each can be taken back to make the input smaller. */
export function mutations(
  maxLength: number,
  more: readonly string[] = [],
): fc.Arbitrary<Mutation[]> {
  const token = fc.constantFrom(...tokens, ...more)
  const each = fc.oneof(
    fc.tuple(place, fc.nat(255)).map(([at, value]) => flip(at, value)),
    fc.tuple(place, length).map(([at, size]) => replace(at, size, () => '')),
    fc.tuple(place, length).map(([at, size]) => replace(at, size, (old) => old + old)),
    fc.tuple(place, length, token).map(([at, size, text]) => replace(at, size, () => text)),
    fc.tuple(place, token).map(([at, text]) => replace(at, 0, () => text)),
    fc.tuple(place, length, place).map(([from, size, to]) => move(from, size, to)),
    fc.tuple(place, fc.constantFrom(...numbers)).map(([at, number]) => renumber(at, number)),
    place.map((at) => (bytes: Buffer) => bytes.subarray(0, indexOf(bytes, at))),
  )
  return fc.array(each, { maxLength })
}

/** Bytes with some changes to them. */
export function mutated(
  inputs: fc.Arbitrary<Buffer>,
  maxLength = 4,
  more: readonly string[] = [],
): fc.Arbitrary<Buffer> {
  return fc.tuple(inputs, mutations(maxLength, more)).map(([bytes, all]) => mutate(bytes, all))
}

/** Text with some changes to its UTF-8; what is none any more becomes U+FFFD. */
export function mutatedText(
  inputs: fc.Arbitrary<string>,
  maxLength = 4,
  more: readonly string[] = [],
): fc.Arbitrary<string> {
  const bytes = inputs.map((text) => Buffer.from(text))
  return mutated(bytes, maxLength, more).map((changed) => changed.toString())
}

export function mutate(bytes: Buffer, all: readonly Mutation[]): Buffer {
  return all.reduce((changed, mutation) => mutation(changed), bytes)
}

function flip(at: number, value: number): Mutation {
  return (bytes) => {
    const changed = Buffer.from(bytes)
    if (changed.length > 0) changed[Math.min(indexOf(bytes, at), bytes.length - 1)] = value
    return changed
  }
}

function replace(at: number, size: number, text: (old: string) => string): Mutation {
  return (bytes) => {
    const begin = indexOf(bytes, at)
    const old = bytes.subarray(begin, begin + size).toString('latin1')
    const rest = bytes.subarray(begin + size)
    return Buffer.concat([bytes.subarray(0, begin), Buffer.from(text(old), 'latin1'), rest])
  }
}

function move(from: number, size: number, to: number): Mutation {
  return (bytes) => {
    const begin = indexOf(bytes, from)
    const moved = bytes.subarray(begin, begin + size).toString('latin1')
    return replace(to, 0, () => moved)(replace(from, size, () => '')(bytes))
  }
}

function renumber(at: number, number: string): Mutation {
  return (bytes) => {
    const text = bytes.toString('latin1')
    const places = [...text.matchAll(/\d+/g)]
    const found = places[Math.floor((at * places.length) / 10_000)]
    if (found === undefined) return bytes
    const end = found.index + found[0].length
    return Buffer.from(text.slice(0, found.index) + number + text.slice(end), 'latin1')
  }
}

function indexOf(bytes: Buffer, at: number): number {
  return Math.floor((at * (bytes.length + 1)) / 10_000)
}
