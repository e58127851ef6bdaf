import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createFileService } from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { catchConsoleErrors } from '@holdfast/testing'
import { expect } from 'chai'
import express from 'express'
import { createTusHandler, type TusHandlerOptions } from '../src/tus-handler.ts'

const headers = {
  'Tus-Resumable': '1.0.0',
  'Content-Type': 'application/offset+octet-stream',
  'Upload-Length': '5',
  'Upload-Metadata': 'filename YS50eHQ=',
}

/** The status of an upload to an application of Express that has a handler without `onFault`. */
async function statusOf(filesOf: TusHandlerOptions['filesOf'], ...before: express.Handler[]) {
  const app = express()
  for (const handler of before) app.use(handler)
  app.use('/uploads', createTusHandler({ path: '/uploads', filesOf }))
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}/uploads`
  const { status } = await fetch(url, { method: 'POST', headers, body: 'Hello' })
  server.close()
  server.closeAllConnections()
  return status
}

describe('createTusHandler without onFault', () => {
  it('gives what filesOf throws to console.error', async () => {
    using caught = catchConsoleErrors()
    const fault = new Error('a fault of filesOf')
    const throwing = () => {
      throw fault
    }
    expect(await statusOf(throwing)).to.equal(500)
    expect(await statusOf(() => Promise.reject(fault))).to.equal(500)
    expect(caught.calls.map(([, error]) => error)).to.deep.equal([fault, fault])
  })

  it('says there that a body parser has read the body', async () => {
    using caught = catchConsoleErrors()
    const files = createFileService({ store: createMemoryBlobStore() }).filesOf({ name: 'demo' })
    expect(await statusOf(() => files, express.raw({ type: '*/*' }))).to.equal(500)
    expect(caught.calls).to.have.length(1)
    expect(String(caught.calls[0]?.[1])).to.include('before body parsers')
  })
})
