import { curl } from '@holdfast/testing'
import { expect } from 'chai'
import { expectError, expectOk } from '../support/answer.ts'
import type { StartService } from '../support/running-service.ts'

/** Headers that say nothing of the file. */
const ofTheExchange = new Set(['connection', 'date', 'keep-alive', 'x-request-id'])

export function serve(start: StartService): void {
  describe('GET /serve/:filename', () => {
    it('answers 200 with the content of the file, to curl', async () => {
      await using service = await start()
      expectOk(await service.anna.upload('a b.txt', 'hi'))
      const auth = ['-H', 'x-auth-name: anna', '-H', 'x-auth-password: correct horse']
      const report = ['-w', '|%{http_code}']
      const { stdout } = await curl([...auth, ...report, `${service.url}/serve/a%20b.txt`])
      expect(stdout.toString()).to.equal('hi|200')
    })

    it('answers File not found for a file that does not exist', async () => {
      await using service = await start()
      expectError(await service.anna.serve('a'), 400, 'File not found')
      expectOk(await service.anna.upload('A', 'x'))
      expectError(await service.anna.serve('a'), 400, 'File not found')
    })

    it('answers No filename. Use /serve/<filename> when the filename is missing', async () => {
      await using service = await start()
      for (const path of ['/serve', '/serve/', '/serve?x=1']) {
        const answer = await service.anna.send('GET', path)
        expectError(answer, 400, 'No filename. Use /serve/<filename>')
      }
    })

    it('reads a percent-encoded name once, and a plus sign as a plus sign', async () => {
      await using service = await start()
      expectOk(await service.anna.upload('%41+', 'hi'))
      const answer = await service.anna.send('GET', '/serve/%2541+?any=query')
      expect(answer.bytes.toString()).to.equal('hi')
    })

    it('answers HEAD with the headers of GET and no body', async () => {
      await using service = await start()
      expectOk(await service.anna.upload('a.txt', 'hi'))
      const head = await service.anna.send('HEAD', '/serve/a.txt')
      const get = await service.anna.serve('a.txt')
      expect(head.status).to.equal(200)
      expect(head.bytes.length).to.equal(0)
      for (const [name, value] of get.headers) {
        if (!ofTheExchange.has(name)) {
          expect(head.headers.get(name), name).to.equal(value)
        }
      }
    })

    it('answers HEAD for a missing file with the status and type of the error and no body', async () => {
      await using service = await start()
      const head = await service.anna.send('HEAD', '/serve/a.txt')
      expect(head.status).to.equal(400)
      expect(head.headers.get('content-type')).to.equal('application/json; charset=utf-8')
      expect(head.bytes.length).to.equal(0)
    })

    it('never changes the bytes for a client that accepts a compression', async () => {
      await using service = await start()
      expectOk(await service.anna.upload('a.txt', 'a'.repeat(10_000)))
      const { headers, bytes } = await service.anna.serve('a.txt', {
        'Accept-Encoding': 'gzip, br',
      })
      expect(headers.get('content-encoding')).to.equal(null)
      expect(bytes.length).to.equal(10_000)
    })
  })
}
