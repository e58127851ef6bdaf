import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createFileService, type ResumableFiles } from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { until } from '@holdfast/testing'
import { expect } from 'chai'
import { createTusHandler } from '../src/tus-handler.ts'

describe('createTusHandler, when the client of a HEAD leaves', () => {
  it('aborts the signal of the publication, and reports no fault', async () => {
    const files = createFileService({ store: createMemoryBlobStore() }).filesOf({ name: 'demo' })
    const { resumable } = files
    if (!resumable) throw new Error('The memory store keeps uploads in pieces')
    const { id } = await resumable.begin('a', { length: 3 })
    await resumable.append(id, 0, 'abc', { isPartial: true })
    const signals: AbortSignal[] = []
    let ended = 0
    const publish: ResumableFiles['publish'] = async (_id, { signal } = {}) => {
      if (!signal) throw new Error('There is no signal')
      signals.push(signal)
      await once(signal, 'abort')
      ended++
      throw signal.reason
    }
    const faults: unknown[] = []
    const tus = createTusHandler({
      path: '/uploads',
      filesOf: () => ({ ...files, resumable: { ...resumable, publish } }),
      onFault: (error) => void faults.push(error),
    })
    const handled: Promise<void>[] = []
    const server = createServer((...both) => void handled.push(tus(...both)))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    try {
      const { port } = server.address() as AddressInfo
      const head = request({
        port,
        host: '127.0.0.1',
        method: 'HEAD',
        path: `/uploads/${id}`,
        headers: { 'Tus-Resumable': '1.0.0' },
      })
      head.on('error', () => {}).end()
      await until('the upload is being published', () => signals.length === 1)
      expect(signals[0]?.aborted).to.equal(false)
      head.destroy()
      await until('its signal aborts', () => ended === 1)
      await Promise.all(handled)
      expect(faults).to.deep.equal([])
    } finally {
      server.close()
      server.closeAllConnections()
    }
  })
})
