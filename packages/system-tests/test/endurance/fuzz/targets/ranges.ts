import { expect } from 'chai'
import fc from 'fast-check'
import { expectSound } from '../expect-sound.ts'
import { createTarget, type FuzzTarget } from '../fuzz-target.ts'
import { startFuzzService } from '../fuzz-service.ts'
import { mutated } from '../mutations.ts'
import { selectRange } from '../range-model.ts'
import { demoRequest } from '../requests.ts'
import { keepConnection } from '../wire.ts'
import { setFiles } from '../kept-files.ts'

const sizes = [0, 1, 2, 10, 1000]
const number = fc.oneof(
  fc.nat(12).map(String),
  fc.nat(1100).map(String),
  fc.constantFrom(
    '',
    '',
    '00',
    '9007199254740992',
    '9007199254740993',
    '18446744073709551616',
    '9'.repeat(330),
  ),
)
const unit = fc.constantFrom('bytes=', 'bytes=', 'bytes=', 'Bytes=', 'bytes= ', 'byte=', 'bytes')
const range = fc
  .tuple(unit, fc.array(fc.tuple(number, number), { minLength: 1, maxLength: 2 }))
  .map(([unit, all]) => unit + all.map(([first, last]) => `${first}-${last}`).join(','))
const header = fc
  .oneof(
    { weight: 3, arbitrary: range.map((text) => Buffer.from(text)) },
    mutated(
      range.map((text) => Buffer.from(text)),
      2,
    ),
  )
  .map((bytes) => bytes.toString('latin1'))
  // What Node itself refuses in a header is the business of other targets.
  .filter((text) => /^[!-~\x80-\xff](?:[\t -~\x80-\xff]*[!-~\x80-\xff])?$/.test(text))

const inputs = fc.record({ header, size: fc.constantFrom(...sizes) })

/** Range headers, against RFC 9110 written a second time. */
export function ranges(): FuzzTarget {
  return createTarget({
    name: 'ranges',
    share: 10,
    inputs,
    async open() {
      const service = await startFuzzService()
      const connection = keepConnection(service.port)
      const contents = new Map(sizes.map((size) => [`${size}`, contentOf(size)]))
      await setFiles(service.demo, contents)
      return {
        async check({ header, size }) {
          const request = demoRequest('GET', `/serve/${size}`, [['Range', header]])
          const answer = await connection.ask(request)
          expectSound(answer)
          service.throwFault()
          const got = verdictOf(answer.status, answer.headers.get('content-range') ?? '', size)
          const verdict = selectRange(header, size)
          if (verdict !== undefined) expect(got).to.deep.equal(verdict)
          if (got === 'none') return
          const { first, last } = got === 'whole' ? { first: 0, last: size - 1 } : got
          const wanted = contentOf(size).subarray(first, last + 1)
          expect(answer.body.equals(wanted), `bytes ${first} to ${last}`).to.equal(true)
        },
        async close() {
          connection.close()
          await service.close()
        },
      }
    },
  })
}

function verdictOf(status: number, contentRange: string, size: number) {
  if (status === 200) {
    expect(contentRange).to.equal('')
    return 'whole'
  }
  expect(status).to.be.oneOf([206, 416])
  if (status === 416) {
    expect(contentRange).to.equal(`bytes */${size}`)
    return 'none'
  }
  const [, first, last] = new RegExp(`^bytes (\\d+)-(\\d+)/${size}$`).exec(contentRange) ?? []
  return { first: Number(first), last: Number(last) }
}

function contentOf(size: number): Buffer {
  return Buffer.from(Uint8Array.from({ length: size }, (_, index) => index % 251))
}
