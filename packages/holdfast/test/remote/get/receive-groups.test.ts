import { setTimeout as delay } from 'node:timers/promises'
import { makeTemporaryDirectory } from '@holdfast/testing'
import { expect } from 'chai'
import { createReceiver } from '../../../src/remote/get/receive-file.ts'

describe('createReceiver', () => {
  it('takes some hundred small files at most while the disk keeps the first waiting, also of empty ones', async () => {
    const directory = await makeTemporaryDirectory()
    const disk = Promise.withResolvers<undefined>()
    const receiver = createReceiver()
    const receive = (name: string) => {
      const target = { directory: directory.path, base: name }
      const login = { url: 'http://x', name: 'demo', password: 'x' }
      const download = { name, size: 0, start: 0, etag: '"1"', body: new Blob([]).stream() }
      const placement = {
        identity: { login, name, target },
        sync: () => disk.promise,
        modified: '',
        beforePlacing: async () => {},
      }
      return receiver.receive(download as never, placement, {
        update: () => {},
        end: () => {},
      })
    }
    try {
      const begun: ReturnType<typeof receive>[] = []
      let isHeld = false
      while (!isHeld && begun.length < 1000) {
        const receiving = receive(`file-${begun.length}`)
        begun.push(receiving)
        isHeld = await Promise.race([receiving.then(() => false), delay(2_000, true)])
      }
      expect(begun.length).to.be.within(250, 300)
      disk.resolve(undefined)
      for (const each of begun) await (await each).placed
    } finally {
      await directory.remove()
    }
  }).timeout(60_000)
})
