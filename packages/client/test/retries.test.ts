import { rejection, until } from '@holdfast/testing'
import { expect } from 'chai'
import type { Retry, Transport, TransportRequest, TransportResponse } from '../src/index.ts'
import { contentOf, inChunks, mebibyte } from './support/content.ts'
import { clientOf, startService, type RunningService } from './support/running-service.ts'

describe('The retries of a client', function () {
  this.timeout(120_000)
  let service: RunningService
  let retries: Retry[]

  beforeEach(async () => {
    service = await startService()
    retries = []
  })

  afterEach(() => service[Symbol.asyncDispose]())

  it('gives up sooner where nothing listens, unless a server has answered before', async () => {
    const { port } = service
    const known = clientOf(service, { onRetry: (retry) => retries.push(retry) })
    await known.ping()
    await service[Symbol.asyncDispose]()
    const client = clientOf({ port }, { onRetry: (retry) => retries.push(retry) })
    const message = `No answer: connection refused at 127.0.0.1 port ${port}`
    expect(await rejection(client.usage())).to.include({ code: 'no-answer', message })
    expect(retries.splice(0)).to.have.length(4)
    const usage = known.usage()
    await until('it has tried five times', () => retries.length === 5, 60_000)
    service = await startService({ port })
    await usage
  })

  it('gives a body whose progress is not known more time, by its size', async () => {
    const send = ({ signal }: TransportRequest) =>
      new Promise<TransportResponse>((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error))
        const response = { status: 200, header: () => '"1"', body: inChunks(Buffer.from('OK'), 2) }
        setTimeout(() => resolve(response), 300)
      })
    const options = { retries: 0, idleTimeoutMs: 50 }
    const upload = (transport: Transport) =>
      clientOf(service, { ...options, transport }).upload('file', contentOf(mebibyte))
    expect(await rejection(upload(send))).to.include({ code: 'no-answer' })
    expect(await upload(Object.assign(send, { isSilent: true }))).to.include({ etag: '"1"' })
  })
})
