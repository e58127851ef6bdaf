import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { expect } from 'chai'
import { until } from '@holdfast/testing'
import { createSendQueues } from '../../src/server/connection-limits.ts'

const isLinux = process.platform === 'linux'

for (const host of ['127.0.0.1', '::1']) {
  describe(`createSendQueues, on ${host}`, () => {
    let near: Socket
    let far: Socket
    before(async () => {
      const server = createServer().listen(0, host)
      await once(server, 'listening')
      near = connect((server.address() as AddressInfo).port, host)
      ;[far] = (await once(server, 'connection')) as [Socket]
      server.close()
    })
    after(() => {
      near.destroy()
      far.destroy()
    })

    it('say how many bytes the peer has not acknowledged, where the system says so', async () => {
      const sendQueueOf = createSendQueues(0)
      const size = 64 * 1024 * 1024
      let taken = 0
      expect(await sendQueueOf(far)).to.equal(isLinux ? 0 : undefined)
      far.write(Buffer.alloc(size))
      if (isLinux) await until('some wait', async () => ((await sendQueueOf(far)) ?? 0) > 1000)
      near.on('data', (chunk) => (taken += chunk.length))
      await until('all were taken', () => taken === size)
      if (isLinux) await until('none wait', async () => (await sendQueueOf(far)) === 0)
    })

    it('are read once for all that ask within a time', async () => {
      const sendQueueOf = createSendQueues(60_000)
      const before = await sendQueueOf(far)
      near.pause()
      far.write(Buffer.alloc(64 * 1024 * 1024))
      expect(await sendQueueOf(far)).to.equal(before)
    })

    it('say nothing of a connection that has ended', async () => {
      far.destroy()
      expect(await createSendQueues(0)(far)).to.equal(undefined)
    })
  })
}
