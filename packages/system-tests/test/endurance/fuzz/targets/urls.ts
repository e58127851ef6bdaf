import { expect } from 'chai'
import fc from 'fast-check'
import { expectSound, messageOf } from '../expect-sound.ts'
import { createTarget, type FuzzTarget } from '../fuzz-target.ts'
import { startFuzzService } from '../fuzz-service.ts'
import { setFiles } from '../kept-files.ts'
import { isName } from '../name-model.ts'
import { demoRequest } from '../requests.ts'
import { keepConnection } from '../wire.ts'

/** A name with everything in it that an encoding may trip over, and names that are encodings of others. */
const ownNames = [
  'a',
  'a b',
  'a%20b',
  'a+b',
  'b',
  '\u00e9',
  '\u{1f600}',
  '%2e%2e',
  'list',
  'ping',
  'x;y=1',
]
const files = new Map(ownNames.map((name) => [name, Buffer.from(`content of ${name}`)]))
const secret = 'for the eyes of the other only'
const otherFiles = new Map(['secret', 'a', 'demo'].map((name) => [name, Buffer.from(secret)]))

const pieces = [
  ...[
    'a',
    'b',
    ' ',
    '+',
    '%20',
    '%2520',
    '%2e',
    '%2E',
    '.',
    '..',
    '%2e%2e',
    '%2f',
    '%2F',
    '%5c',
    '\\',
    '/',
    '//',
  ],
  ...[
    '%c3%a9',
    '%C3%A9',
    '%e9',
    '%',
    '%zz',
    '%00',
    '%0d%0a',
    ';',
    '?',
    '&',
    '=',
    '%25',
    '%252e',
    'other',
    'demo',
  ],
  ...[
    'secret',
    '%u0061',
    '%F0%9F%98%80',
    '@',
    ':',
    '*',
    "'",
    '~',
    '%c0%ae',
    '%80',
    '\x80',
    '\xff',
    '|',
    '[',
    '{',
  ],
] as const
const soup = fc.array(fc.constantFrom(...pieces), { maxLength: 6 }).map((all) => all.join(''))
const known = fc
  .constantFrom(...ownNames)
  .chain((name) =>
    fc
      .array(fc.boolean(), { minLength: 20, maxLength: 20 })
      .map((flags) => encodeSome(name, flags)),
  )
const segment = fc.oneof(soup, known)
const root = fc.constantFrom(
  '/serve/',
  '/serve/',
  '/serve/',
  '/',
  '/serve',
  '/list/',
  '//serve/',
  '/Serve/',
)

/** Of an absolute URL: what one parser or another takes for a host, or throws at. */
const authority = fc.oneof(
  fc.constantFrom('a', ''),
  fc
    .array(
      fc.constantFrom(
        ...[
          'a',
          'b.test',
          'xn--',
          '%',
          '%00',
          '%41',
          '@',
          ':',
          '80',
          '99999999',
          '.',
          '-',
          ';',
          '&',
        ],
        ...['[::1]', '[fe80::1%251]', '[V1.A;]', '[', ']', '\\', '*', "'"],
      ),
      { maxLength: 4 },
    )
    .map((all) => all.join('')),
)

const query = fc.array(
  fc.tuple(
    fc.constantFrom('limit', 'after', 'prefix', 'details', 'Limit', 'x', 'limit[]'),
    fc.oneof(fc.constantFrom('1', '2', '0', '-1', '1e1', '', '9'.repeat(30), ' 1'), segment, known),
  ),
  { maxLength: 3 },
)

const inputs = fc.oneof(
  fc.record({ root, segment }).map(({ root, segment }) => `${root}${segment}`),
  query.map((all) => `/list?${all.map((pair) => pair.join('=')).join('&')}`),
  fc
    .tuple(fc.constantFrom('http://', 'HTTPS://', '//', 'x:', ''), authority, root, segment)
    .map((all) => all.join('')),
)

/** Targets of requests: they lead to one's own files only, by their names decoded once, and lists say what they should. */
export function urls(): FuzzTarget {
  return createTarget({
    name: 'urls',
    share: 9,
    // What Node refuses to take for a target is the business of others.
    inputs: inputs.filter((target) => /^[!-~\x80-\xff]+$/.test(target)),
    async open() {
      const service = await startFuzzService()
      const connection = keepConnection(service.port)
      await setFiles(service.demo, files)
      await setFiles(service.other, otherFiles)
      return {
        async check(target) {
          const answer = await connection.ask(demoRequest('GET', target))
          expectSound(answer)
          service.throwFault()
          const text = messageOf(answer)
          expect(text).to.not.include(secret)
          const name = nameServed(target)
          if (name !== undefined) expectAnswer(text, name)
          const list = listOf(target)
          if (list !== undefined) expect(text).to.equal(list)
        },
        async close() {
          connection.close()
          await service.close()
        },
      }
    },
  })
}

/** The name behind `/serve/`, where it is beyond doubt: one segment of what RFC 3986 has in segments. */
function nameServed(target: string): string | undefined {
  const segment =
    /^(?:http:\/\/a)?\/serve\/((?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9a-fA-F]{2})+)(?:\?[!-~]*)?$/.exec(
      target,
    )?.[1]
  // By WHATWG's rules for URLs these are no segments; who is right matters only to those who send them.
  if (segment === undefined || /^(?:\.|%2e){1,2}$/i.test(segment)) return undefined
  const bytes = segment.replaceAll(/%(..)/g, (_, hex: string) =>
    String.fromCharCode(parseInt(hex, 16)),
  )
  return Buffer.from(bytes, 'latin1').toString()
}

function expectAnswer(text: string, name: string): void {
  if (!isName(name) || name.includes('\ufffd'))
    expect(text).to.match(/^Invalid filename: |^File not/)
  else expect(text).to.equal(files.get(name)?.toString() ?? 'File not found')
}

/** What the query asks for, where its parameters are beyond doubt. */
function listOf(target: string): string | undefined {
  const text = /^\/list\?([A-Za-z0-9.=&-]*)$/.exec(target)?.[1]
  if (text === undefined) return undefined
  const pairs = text.split('&').map((pair) => pair.split('='))
  if (pairs.some(([key, ...rest]) => key === 'details' || rest.length !== 1)) return undefined
  const values = (key: string) =>
    pairs.flatMap(([name, value]) => (name === key ? [value ?? ''] : []))
  for (const key of ['limit', 'after', 'prefix']) {
    if (values(key).length > 1) return undefined
  }
  const [limit, after = '', prefix = ''] = ['limit', 'after', 'prefix'].map((key) => values(key)[0])
  const isCount = limit === undefined || (/^\d{1,15}$/.test(limit) && Number(limit) > 0)
  if (!isCount) return 'Invalid limit: it must be a whole number from 1'
  const found = ownNames
    .filter(
      (name) =>
        name.startsWith(prefix) && Buffer.compare(Buffer.from(name), Buffer.from(after)) > 0,
    )
    .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  return JSON.stringify(found.slice(0, limit === undefined ? undefined : Number(limit)))
}

/** Percent-encodes what must be, and the bytes with a flag. */
function encodeSome(name: string, flags: readonly boolean[]): string {
  return Array.from(Buffer.from(name), (byte, index) => {
    const character = String.fromCharCode(byte)
    const isPlain = /[a-z0-9]/.test(character) && flags[index] !== true
    return isPlain ? character : `%${byte.toString(16).padStart(2, '0')}`
  }).join('')
}
