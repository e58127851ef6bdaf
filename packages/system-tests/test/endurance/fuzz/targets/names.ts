import { expect } from 'chai'
import { compareUtf8, nameProblem } from '@holdfast/core'
import fc from 'fast-check'
import {
  decodeEscapedName,
  encodeEscapedName,
  createLayout,
} from '../../../../../store-disk/src/directory/layout.ts'
import {
  encodeName,
  nameEncodings,
  createObjectKeys,
} from '../../../../../store-minio/src/keys/object-keys.ts'
import { createTarget, type FuzzTarget } from '../fuzz-target.ts'
import { isName } from '../name-model.ts'

/** What the stores make of names. */
export interface NameCodecs {
  /** The components of a path on a disk that does not keep all names apart. */
  readonly encodeEscaped: (name: string) => readonly string[]
  readonly decodeEscaped: (components: readonly string[]) => string | undefined
  /** A part of a key in a bucket. */
  readonly encodeForBucket: (name: string) => string
}

const ownCodecs: NameCodecs = {
  encodeEscaped: encodeEscapedName,
  decodeEscaped: decodeEscapedName,
  encodeForBucket: encodeName,
}

const fragments = [
  ...[
    'a',
    'A',
    'e\u0301',
    '\u00e9',
    '\u00c9',
    'k',
    '\u212a',
    '%',
    '%41',
    '%25',
    '.',
    '..',
    ' ',
    '~1',
    '\\',
  ],
  ...[
    'con',
    'CON',
    'nul',
    'com1',
    'lpt9.',
    ':',
    '\u6f22',
    '\u{1f600}',
    '\ud800',
    '/',
    '\0',
    '\x7f',
    '\x1f',
  ],
  ...[
    '\x01',
    '-',
    '!',
    '\ufeff',
    '\u200b',
    '\u202e',
    'x'.repeat(119),
    'y'.repeat(60),
    '\u6f22'.repeat(40),
  ],
]
const names = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .array(fc.constantFrom(...fragments), { maxLength: 6 })
      .map((pieces) => pieces.join('')),
  },
  fc.string({ unit: 'binary', maxLength: 90 }),
  // Halves of surrogate pairs, too.
  fc.array(fc.nat(0xffff), { maxLength: 90 }).map((units) => String.fromCharCode(...units)),
)

/** What could be met on a disk. */
const components = fc.array(
  fc
    .array(
      fc.constantFrom('a', 'A', '%', '%41', '%61', '%c3%a9', '.', '..', 'con', '%63on', '~', ' '),
      {
        maxLength: 5,
      },
    )
    .map((pieces) => pieces.join('')),
  { minLength: 1, maxLength: 3 },
)

const inputs = fc.record({ name: names, components })
const customerRoot = '/data/files/customer'

/**
 * What is a name, and what stores make of those that are one: each has a place of its own, below its customer, and is
 * found there again, whatever a file system folds together.
 */
export function fileNames(codecs: NameCodecs = ownCodecs): FuzzTarget {
  return createTarget({
    name: 'names',
    share: 15,
    inputs,
    open() {
      const check = expectOwnPlaces(codecs)
      return {
        check({ name, components }) {
          expect(nameProblem(name) === undefined, 'is a name').to.equal(isName(name))
          expectOneSpelling(codecs, components)
          if (isName(name)) check(name)
          else expect(() => codecs.encodeForBucket(name), 'the key of no name').to.throw(TypeError)
        },
      }
    },
  })
}

function expectOwnPlaces(codecs: NameCodecs): (name: string) => void {
  const { expectAlone, expectAloneInBucket } = {
    expectAlone: unique(),
    expectAloneInBucket: unique(),
  }
  let last = 'a'
  return (name) => {
    const path = codecs.encodeEscaped(name)
    expect(codecs.decodeEscaped(path), 'the name at its path').to.equal(name)
    for (const part of path) {
      expect(part).to.match(/^(?!\.+$)[a-z0-9_.%-]{1,123}(?<!\.)$/)
      expect(part).to.not.match(/^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/)
    }
    expectAlone(path.map(folded).join('/'), name)

    const key = codecs.encodeForBucket(name)
    expectAloneInBucket(key, name)
    expect(keys.isKey(`${keys.customerPrefix(name)}${key}`), 'is a key').to.equal(true)
    expect(key.replace('\u0001/', ''), 'leads nowhere else').to.not.match(/\/|^\.\.?$/)
    expectSameOrder(name, last)
    last = name
    for (const mode of ['plain', 'escaped'] as const) expectBelow(name, mode)
  }
}

const keys = createObjectKeys('prefix/')

/** Within each of the encodings, names are in the order of their keys. */
function expectSameOrder(one: string, other: string): void {
  for (const { encode } of nameEncodings) {
    const order = Math.sign(compareUtf8(encode(one), encode(other)))
    expect(order, 'the order of keys').to.equal(
      Math.sign(Buffer.compare(Buffer.from(one), Buffer.from(other))),
    )
  }
}

function expectBelow(name: string, mode: 'plain' | 'escaped'): void {
  const layout = createLayout('/data/files', mode)
  const path = layout.blobPath({ customer: 'customer', name })
  expect(path.startsWith(`${customerRoot}/`), `below the customer: ${path}`).to.equal(true)
  const below = path.slice(customerRoot.length + 1).split('/')
  expect(layout.nameAt(below), 'the name at its path').to.equal(name)
}

/** A path that has a name is the path of that name. */
function expectOneSpelling(
  { encodeEscaped, decodeEscaped }: NameCodecs,
  components: string[],
): void {
  const name = decodeEscaped(components)
  if (name !== undefined) expect(encodeEscaped(name)).to.deep.equal(components)
}

/** What the most eager file system sees. */
function folded(component: string): string {
  const canonical = component.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKD')
  return canonical.replace(/[. ]+$/, '')
}

/** Remembers whose each place is, of the last many. */
function unique(): (place: string, name: string) => void {
  const owners = new Map<string, string>()
  return (place, name) => {
    expect(owners.get(place) ?? name, `who is at ${place}`).to.equal(name)
    if (owners.size >= 20_000) owners.clear()
    owners.set(place, name)
  }
}
