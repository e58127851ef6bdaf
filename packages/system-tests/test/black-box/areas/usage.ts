import { expect } from 'chai'
import { expectError, expectOk } from '../support/answer.ts'
import { anna, type RunningService, type StartService } from '../support/running-service.ts'

async function usageIn(service: RunningService): Promise<unknown> {
  const answer = await service.anna.send('GET', '/usage')
  expect(answer.status).to.equal(200)
  expect(answer.headers.get('content-type')).to.equal('application/json; charset=utf-8')
  expect(answer.headers.get('cache-control')).to.equal('private, no-cache')
  return JSON.parse(answer.bytes.toString())
}

const unfinished = { uploads: 0, bytes: 0 }

export function usage(start: StartService): void {
  describe('GET /usage', () => {
    it('counts files and bytes as they are after each change, without a limit too', async () => {
      await using service = await start()
      expect(await usageIn(service)).to.deep.equal({ files: 0, bytes: 0, unfinished })
      expectOk(await service.anna.put('a', 'four'))
      expectOk(await service.anna.upload('b', 'seven'))
      expect(await usageIn(service)).to.deep.equal({ files: 2, bytes: 9, unfinished })
      expectOk(await service.anna.put('a', 'a'))
      expectOk(await service.anna.remove('b'))
      expect(await usageIn(service)).to.deep.equal({ files: 1, bytes: 1, unfinished })
    })

    it('says what the customer may keep, and what unfinished uploads have of it', async () => {
      await using service = await start({ customers: [{ ...anna, quota: 1000, maxFiles: 7 }] })
      const headers = {
        'Tus-Resumable': '1.0.0',
        'Upload-Length': '10',
        'Upload-Metadata': `filename ${btoa('film')}`,
        'Content-Type': 'application/offset+octet-stream',
      }
      const begun = await service.anna.send('POST', '/resumable', { headers, body: 'half' })
      expect(begun.status).to.equal(201)
      expect(await usageIn(service)).to.deep.equal({
        files: 0,
        bytes: 0,
        quota: 1000,
        maxFiles: 7,
        unfinished: { uploads: 1, bytes: 4 },
      })
    })

    it('counts the files of the customer alone', async () => {
      const bert = { name: 'bert', password: 'battery staple' }
      await using service = await start({ customers: [anna, bert] })
      expectOk(await service.as(bert).put('b', 'of bert'))
      expect(await usageIn(service)).to.deep.equal({ files: 0, bytes: 0, unfinished })
    })

    it('answers HEAD like GET, without a body, and strangers not at all', async () => {
      await using service = await start()
      const head = await service.anna.send('HEAD', '/usage')
      expect([head.status, head.bytes.length]).to.deep.equal([200, 0])
      const get = await service.anna.send('GET', '/usage')
      expect(head.headers.get('content-length')).to.equal(`${get.bytes.length}`)
      const stranger = service.as({ ...anna, password: 'a guess' })
      expectError(await stranger.send('GET', '/usage'), 400, 'Invalid credentials')
      expectError(
        await service.anna.send('POST', '/usage'),
        405,
        'Method not allowed. Use GET, HEAD, OPTIONS',
      )
    })
  })
}
