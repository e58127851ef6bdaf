import { expect } from 'chai'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import fc from 'fast-check'
import { expectSound, messageOf } from '../expect-sound.ts'
import type { FuzzStore } from '../fuzz-store.ts'
import { createTarget, type FuzzTarget } from '../fuzz-target.ts'
import { startFuzzService } from '../fuzz-service.ts'
import { isName } from '../name-model.ts'
import { demoRequest } from '../requests.ts'
import { keepConnection } from '../wire.ts'

const fragments = [
  ...[
    'a',
    'B',
    'e\u0301',
    '\u00e9',
    '%',
    '%41',
    '%2F',
    '.',
    '..',
    ' ',
    '~',
    '\\',
    '"',
    "'",
    ';',
    '=',
    '\u{1f600}',
  ],
  ...[
    'CON',
    '\u6f22',
    '/',
    '\0',
    '\x7f',
    '\r\n',
    '?',
    '#',
    '&',
    '+',
    '\ufffd',
    '\u202e',
    '.html',
    '.svg',
    '*',
  ],
]
const names = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .array(fc.constantFrom(...fragments), { minLength: 1, maxLength: 5 })
      .map((pieces) => pieces.join('')),
  },
  fc.string({ unit: 'binary', minLength: 1, maxLength: 90 }),
)
const content = fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes))
const inputs = fc.record({ name: names, content })

export interface RoundTripOptions {
  readonly name?: string
  readonly share?: number
  readonly openStore?: () => Promise<FuzzStore>
}

/** A file is uploaded under any name, listed, served with its name in the headers, and deleted; or refused throughout. */
export function roundTrips({
  name = 'round-trips',
  share = 4,
  openStore = async () => ({ store: createMemoryBlobStore() }),
}: RoundTripOptions = {}): FuzzTarget {
  return createTarget({
    name,
    share,
    inputs,
    async open() {
      const { store, expectTidy, close } = await openStore()
      const service = await startFuzzService(store)
      const connection = keepConnection(service.port)
      const ask = async (method: string, path: string, body?: Buffer) => {
        const answer = await connection.ask(demoRequest(method, path, [], body))
        expectSound(answer)
        service.throwFault()
        return answer
      }
      return {
        async check({ name, content }) {
          const segment = encodeURIComponent(name)
          const stored = await ask('PUT', `/upload/${segment}`, content)
          const served = await ask('GET', `/serve/${segment}`)
          const listed = messageOf(await ask('GET', '/list'))
          const deleted = messageOf(await ask('DELETE', `/delete/${segment}`))
          await expectTidy?.()
          const end = messageOf(await ask('GET', '/list'))
          expect(end).to.equal('No files uploaded yet')
          if (!isName(name)) {
            expect(messageOf(stored)).to.match(/^Invalid filename: /)
            expect([messageOf(served), deleted]).to.deep.equal([
              messageOf(stored),
              messageOf(stored),
            ])
            return
          }
          expect([messageOf(stored), deleted]).to.deep.equal(['OK', 'OK'])
          expect(JSON.parse(listed)).to.deep.equal([name])
          expect(served.body.equals(content), 'the same content').to.equal(true)
          const disposition = served.headers.get('content-disposition') ?? ''
          expect(nameIn(disposition), disposition).to.equal(name)
        },
        async close() {
          connection.close()
          await service.close()
          await close?.()
        },
      }
    },
  })
}

/** The name that a client reads (RFC 6266, RFC 8187), all of the header being one attachment. */
function nameIn(disposition: string): string | undefined {
  const form =
    /^attachment; filename=(?:"((?:[^"\\]|\\.)*)"|([!#-+\--.0-9A-Z^-z|~]+))(?:; filename\*=UTF-8''([^'"; ]+))?$/
  const [, quoted, token, extended] = form.exec(disposition) ?? []
  if (extended !== undefined) return decodeURIComponent(extended)
  return quoted?.replace(/\\(.)/g, '$1') ?? token
}
