import { expect } from 'chai'
import { expectError, expectOk } from '../support/answer.ts'
import type { RunningService, StartService } from '../support/running-service.ts'

const past = 'Sun, 06 Nov 1994 08:49:37 GMT'
const future = 'Wed, 01 Jan 2098 00:00:00 GMT'

interface Validators {
  readonly etag: string
  readonly modified: string
}

type Conditions = (of: Validators) => Readonly<Record<string, string>>

async function validatorsOf(service: RunningService): Promise<Validators> {
  expectOk(await service.anna.upload('a', '0123456789'))
  const { headers } = await service.anna.serve('a')
  return { etag: headers.get('etag') ?? '', modified: headers.get('last-modified') ?? '' }
}

const cases: readonly (readonly [status: number, title: string, conditions: Conditions])[] = [
  [304, 'If-None-Match with its ETag', ({ etag }) => ({ 'If-None-Match': etag })],
  [304, 'If-None-Match with its ETag, weak', ({ etag }) => ({ 'If-None-Match': `W/${etag}` })],
  [304, 'If-None-Match in a list', ({ etag }) => ({ 'If-None-Match': `"x", ${etag}` })],
  [304, 'If-None-Match: *', () => ({ 'If-None-Match': '*' })],
  [200, 'If-None-Match with another ETag', () => ({ 'If-None-Match': '"x"' })],
  [304, 'If-Modified-Since its date', ({ modified }) => ({ 'If-Modified-Since': modified })],
  [200, 'If-Modified-Since an earlier date', () => ({ 'If-Modified-Since': past })],
  [200, 'If-Modified-Since no date', () => ({ 'If-Modified-Since': 'nonsense' })],
  [
    200,
    'If-None-Match before If-Modified-Since',
    () => ({ 'If-None-Match': '"x"', 'If-Modified-Since': future }),
  ],
  [200, 'If-Match with its ETag', ({ etag }) => ({ 'If-Match': etag })],
  [200, 'If-Match: *', () => ({ 'If-Match': '*' })],
  [412, 'If-Match with another ETag', () => ({ 'If-Match': '"x"' })],
  [412, 'If-Match with its ETag, weak', ({ etag }) => ({ 'If-Match': `W/${etag}` })],
  [412, 'If-Unmodified-Since an earlier date', () => ({ 'If-Unmodified-Since': past })],
  [200, 'If-Unmodified-Since its date', ({ modified }) => ({ 'If-Unmodified-Since': modified })],
  [
    412,
    'If-Match before If-None-Match',
    ({ etag }) => ({ 'If-Match': '"x"', 'If-None-Match': etag }),
  ],
]

export function serveConditional(start: StartService): void {
  describe('conditional requests', () => {
    for (const [status, title, conditions] of cases) {
      it(`${title}: ${status}, for GET and HEAD`, async () => {
        await using service = await start()
        const validators = await validatorsOf(service)
        const headers = conditions(validators)
        for (const method of ['GET', 'HEAD']) {
          const answer = await service.anna.send(method, '/serve/a', { headers })
          expect(answer.status).to.equal(status)
          if (status === 412 && method === 'GET') expectError(answer, 412, 'Precondition Failed')
          if (status !== 304) continue
          expect(answer.bytes.length).to.equal(0)
          expect(answer.headers.get('etag')).to.equal(validators.etag)
        }
      })
    }

    it('of a file that is not there are File not found', async () => {
      await using service = await start()
      const answer = await service.anna.serve('a', { 'If-Match': '*' })
      expectError(answer, 400, 'File not found')
    })
  })

  describe('If-Range', () => {
    const rangeCases: readonly (readonly [number, string, (of: Validators) => string])[] = [
      [206, 'its ETag', ({ etag }) => etag],
      [200, 'its date', ({ modified }) => modified],
      [200, 'another ETag', () => '"x"'],
      [200, 'its ETag, weak', ({ etag }) => `W/${etag}`],
      [200, 'another date', () => future],
    ]
    for (const [status, title, ifRange] of rangeCases) {
      it(`with ${title}: ${status === 206 ? '206, the range' : '200, the whole'}`, async () => {
        await using service = await start()
        const validators = await validatorsOf(service)
        const headers = { Range: 'bytes=2-3', 'If-Range': ifRange(validators) }
        const answer = await service.anna.serve('a', headers)
        expect(answer.status).to.equal(status)
        expect(answer.bytes.toString()).to.equal(status === 206 ? '23' : '0123456789')
      })
    }

    it('with the ETag of a file that was replaced meanwhile: 200, the new whole', async () => {
      await using service = await start()
      const { etag } = await validatorsOf(service)
      expectOk(await service.anna.upload('a', 'new'))
      const answer = await service.anna.serve('a', { Range: 'bytes=2-', 'If-Range': etag })
      expect([answer.status, answer.bytes.toString()]).to.deep.equal([200, 'new'])
    })

    it('keeps a range that is beyond a replaced file from being 416', async () => {
      await using service = await start()
      const { etag } = await validatorsOf(service)
      expectOk(await service.anna.upload('a', 'new'))
      const answer = await service.anna.serve('a', { Range: 'bytes=5-', 'If-Range': etag })
      expect([answer.status, answer.bytes.toString()]).to.deep.equal([200, 'new'])
    })
  })
}
