import { text } from 'node:stream/consumers'
import { type Fate, rejection, startBadLine } from '@holdfast/testing'
import { expect } from 'chai'
import type { FileUploaded, Retry } from '../src/index.ts'
import { all } from './support/all.ts'
import { files, stored, summary } from './support/many-files.ts'
import { clientOf } from './support/running-service.ts'
import { startServer } from './support/start-server.ts'
import { useService } from './support/use-service.ts'

describe('Where the line breaks, Client.uploadMany', function () {
  this.timeout(60_000)
  const service = useService()
  let retries: Retry[]
  const over = async (
    fates: readonly Fate[],
    use: (client: ReturnType<typeof clientOf>) => Promise<void>,
  ) => {
    retries = []
    await using line = await startBadLine(service.port, fates)
    await use(clientOf(line, { onRetry: (retry) => retries.push(retry), idleTimeoutMs: 10_000 }))
  }

  it('sends again what has no answer, and no more', async () => {
    const fates: readonly Fate[] = [
      { cutAfter: 30_000 },
      { cutAnswerAfter: 700 },
      'unanswered',
      { cutAnswerAfter: 20_000 },
    ]
    const given = files(900)
    await over(fates, async (client) => {
      expect(summary(await all(client.uploadMany(given)))).to.deep.equal(stored(given))
    })
    expect(retries.map(({ error }) => error.code)).to.deep.equal(Array(4).fill('no-answer'))
    expect(await all(clientOf(service).list())).to.have.length(900)
  })

  it('says what it knows of files that it only creates, and that it does not know of the others', async () => {
    const known: FileUploaded[] = []
    await over([{ cutAnswerAfter: 2000 }], async (client) => {
      const uploading = async () => {
        for await (const result of client.uploadMany(files(900), { createOnly: true })) {
          known.push(result)
        }
      }
      expect(await rejection(uploading())).to.include({ code: 'no-answer' })
    })
    expect(retries).to.deep.equal([])
    expect(summary(known)).to.deep.equal(stored(files(900).slice(0, known.length)))
    expect(known.length).to.be.within(1, 100)
  })

  it('creates what a cut form has not brought, which the server says', async () => {
    const cut = { statusCode: 400, error: 'Bad Request', message: 'Malformed multipart body' }
    const answers = [
      [ok('00000.txt'), { filename: '00001.txt', ...cut }, cut],
      [ok('00001.txt'), ok('00002.txt')],
    ]
    await using server = await startAnswering(answers)
    const results = clientOf(server).uploadMany(files(3), { createOnly: true })
    expect(summary(await all(results))).to.deep.equal(stored(files(3)))
    expect(server.bodies.map((body) => body.match(/content of ./g))).to.deep.equal([
      ['content of 0', 'content of 1', 'content of 2'],
      ['content of 1', 'content of 2'],
    ])
  })

  it('creates no file again that has no answer, though another was refused', async () => {
    const refused = { filename: '00000.txt', statusCode: 503, message: 'Overloaded' }
    await using server = await startAnswering([[refused], [ok('00000.txt'), ok('00001.txt')]])
    const results = all(clientOf(server).uploadMany(files(2), { createOnly: true }))
    expect(await rejection(results)).to.include({ code: 'no-answer' })
    expect(server.bodies).to.have.length(1)
  })

  it('believes no answer that is about other files', async () => {
    for (const answer of [[ok('other')], [{ filename: '00000.txt' }], ['text']]) {
      await using server = await startAnswering([answer])
      const results = all(clientOf(server).uploadMany(files(1)))
      expect(await rejection(results)).to.include({ code: 'unknown' })
    }
  })
})

const ok = (filename: string) => ({ filename, statusCode: 200, message: 'OK' })

/** A server that answers each batch with these lines. */
async function startAnswering(answers: readonly (readonly unknown[])[]) {
  const left = [...answers]
  const bodies: string[] = []
  const server = await startServer((request, response) => {
    void text(request).then((body) => {
      bodies.push(body)
      response.setHeader('Content-Type', 'application/x-ndjson; charset=utf-8')
      response.end((left.shift() ?? []).map((line) => `${JSON.stringify(line)}\n`).join(''))
    })
  })
  return { ...server, bodies }
}
