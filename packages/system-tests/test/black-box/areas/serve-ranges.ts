import { curl } from '@holdfast/testing'
import { expect } from 'chai'
import { expectError, expectOk } from '../support/answer.ts'
import type { StartService } from '../support/running-service.ts'

const content = '0123456789'

export function serveRanges(start: StartService): void {
  describe('Range', () => {
    for (const [range, contentRange, expected] of [
      ['bytes=0-0', 'bytes 0-0/10', '0'],
      ['bytes=2-4', 'bytes 2-4/10', '234'],
      ['bytes=7-', 'bytes 7-9/10', '789'],
      ['bytes=9-9', 'bytes 9-9/10', '9'],
      ['bytes=5-99', 'bytes 5-9/10', '56789'],
      ['bytes=0-', 'bytes 0-9/10', content],
      ['bytes=-3', 'bytes 7-9/10', '789'],
      ['bytes=-99', 'bytes 0-9/10', content],
      ['BYTES=1-2', 'bytes 1-2/10', '12'],
    ] as const) {
      it(`${range} is a single range: 206 ${contentRange}`, async () => {
        await using service = await start()
        expectOk(await service.anna.upload('a', content))
        const answer = await service.anna.serve('a', { Range: range })
        expect(answer.status).to.equal(206)
        expect(answer.headers.get('content-range')).to.equal(contentRange)
        expect(answer.headers.get('content-length')).to.equal(`${expected.length}`)
        expect(answer.bytes.toString()).to.equal(expected)
      })
    }

    for (const range of ['bytes=10-', 'bytes=10-20', 'bytes=99999999999999999999-', 'bytes=-0']) {
      it(`${range} is unsatisfiable: 416 with the size`, async () => {
        await using service = await start()
        expectOk(await service.anna.upload('a', content))
        const answer = await service.anna.serve('a', { Range: range })
        expectError(answer, 416, 'Range not satisfiable')
        expect(answer.headers.get('content-range')).to.equal('bytes */10')
      })
    }

    for (const [range, what] of [
      ['bytes=0-1,4-5', 'several ranges'],
      ['lines=0-1', 'another unit'],
      ['bytes=4-2', 'no valid range'],
      ['bytes=a-b', 'no valid range'],
      ['bytes=-', 'no valid range'],
      ['nonsense', 'no valid range'],
    ] as const) {
      it(`${range} is ${what}: 200 whole`, async () => {
        await using service = await start()
        expectOk(await service.anna.upload('a', content))
        const answer = await service.anna.serve('a', { Range: range })
        expect(answer.status).to.equal(200)
        expect(answer.headers.get('content-range')).to.equal(null)
        expect(answer.bytes.toString()).to.equal(content)
      })
    }

    it('at an edge of an empty file is ignored: 200 whole', async () => {
      await using service = await start()
      const stored = await service.anna.upload('a', '')
      expectOk(stored)
      for (const range of ['bytes=0-', 'bytes=0-1048575', 'bytes=-1']) {
        for (const condition of [{}, { 'If-Range': stored.headers.get('etag') ?? '' }]) {
          const answer = await service.anna.serve('a', { Range: range, ...condition })
          expect(answer.status, range).to.equal(200)
          expect(answer.headers.get('content-range')).to.equal(null)
          expect(answer.headers.get('content-length')).to.equal('0')
          expect(answer.bytes.length).to.equal(0)
        }
      }
      for (const range of ['bytes=5-', 'bytes=-0']) {
        expectError(await service.anna.serve('a', { Range: range }), 416, 'Range not satisfiable')
      }
    })

    it('that is absurd gets the whole file, an error, or its header refused, and at once', async () => {
      await using service = await start()
      expectOk(await service.anna.upload('a', content))
      const many = Array.from({ length: 900 }, (_, index) => `${index}-`).join()
      for (const [range, status] of [
        [`bytes=${many}`, 200],
        [`bytes=${'0-,'.repeat(900)}0-`, 200],
        ['bytes=9223372036854775808-', 416],
        [`bytes=0-${'9'.repeat(15_000)}`, 206],
        [`bytes=${'9'.repeat(15_000)}-`, 416],
        [`bytes=-${'9'.repeat(15_000)}`, 206],
        [`bytes=0-${'1'.repeat(65_536)}`, 431],
      ] as const) {
        const answer = await service.anna.serve('a', { Range: range })
        expect(answer.status, range.slice(0, 40)).to.equal(status)
        if (status < 300) expect(answer.bytes.toString()).to.equal(content)
      }
    })

    it('is ignored by HEAD', async () => {
      await using service = await start()
      expectOk(await service.anna.upload('a', content))
      const headers = { Range: 'bytes=0-1' }
      const answer = await service.anna.send('HEAD', '/serve/a', { headers })
      expect(answer.status).to.equal(200)
      expect(answer.headers.get('content-length')).to.equal('10')
    })

    it('lets curl go on where a download broke off', async () => {
      await using service = await start()
      const large = Buffer.from(Array.from({ length: 300_000 }, (_, index) => index % 251))
      expectOk(await service.anna.upload('a', large))
      const auth = ['-H', 'x-auth-name: anna', '-H', 'x-auth-password: correct horse']
      const download = (range: string) =>
        curl([...auth, '--fail', '-r', range, `${service.url}/serve/a`])
      const parts = [await download('0-99999'), await download('100000-')]
      const joined = Buffer.concat(parts.map(({ stdout }) => stdout))
      expect(joined.equals(large)).to.equal(true)
    })
  })
}
