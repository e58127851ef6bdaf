import { expect } from 'chai'
import { createFileService } from '../../src/file-service.ts'
import { createMemoryBlobStore } from '../../src/memory/memory-blob-store.ts'
import { createQuotaKeeper, type QuotaKeeper } from '../../src/policy/quota-keeper.ts'

const alice = { name: 'alice', quota: 100 }

async function* content(size: number) {
  yield new Uint8Array(size)
}

function createGate() {
  let open = () => {}
  const opened = new Promise<void>((resolve) => (open = resolve))
  return { opened, open }
}

/** Whether an upload of `size` bytes under another name would be taken. */
async function hasRoom(quotas: QuotaKeeper, size: number): Promise<boolean> {
  const claim = await quotas.claim(alice, 'a name that no test uses', size).catch(() => undefined)
  claim?.end()
  return claim !== undefined
}

describe('finishUpload, by two processes with the same quotas', () => {
  for (const [what, isDeleted, kept] of [
    ['once', false, 90],
    ['not at all where it is deleted before the later one comes to it', true, 0],
  ] as const) {
    it(`counts the file ${what}`, async () => {
      const store = createMemoryBlobStore()
      const quotas = createQuotaKeeper(store)
      // Keeps the customer from being counted anew.
      const other = await quotas.claim(alice, 'other')
      const [isFound, mayGoOn] = [createGate(), createGate()]
      const late: QuotaKeeper = {
        ...quotas,
        async claim(...args) {
          isFound.open()
          await mayGoOn.opened
          return quotas.claim(...args)
        },
      }
      let published = 0
      const onUploaded = () => {
        published++
      }
      const hooks = { onUploaded }
      const first = createFileService({ store, quotas, hooks }).filesOf(alice)
      const second = createFileService({ store, quotas: late, hooks }).filesOf(alice)
      const id = (await first.resumable?.begin('a'))?.id ?? ''
      await first.resumable?.append(id, 0, content(90))
      const publishing = second.resumable?.publish(id)
      await isFound.opened
      await first.resumable?.publish(id)
      if (isDeleted) await first.delete('a')
      mayGoOn.open()
      const finished = await publishing
      expect(finished?.published?.size).to.equal(90)
      expect([finished?.isPublishedNow, published]).to.deep.equal([undefined, 1])
      expect(await hasRoom(quotas, 101 - kept)).to.equal(false)
      expect(await hasRoom(quotas, 100 - kept)).to.equal(true)
      other.end()
    })
  }
})
