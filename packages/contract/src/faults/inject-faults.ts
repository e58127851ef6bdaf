import type { BlobStore, OpenBlob } from '@holdfast/core'
import type { Faults } from './faults.ts'
import { injectUploadFaults } from './inject-upload-faults.ts'
import { listedWith } from './listed-with.ts'
import { passingItems } from './passing-items.ts'
import { takenWith } from './taken-with.ts'

/**
 * `store`, whose calls pass the steps of `faults`, and fail or wait there as planned; without a plan it behaves as
 * `store` does. The steps of a call, in order:
 *
 * - `put`: `call`; an `item` for each chunk that the store takes; `end` when it is about to learn that the content is
 *   complete; `answer` when the blob is stored.
 * - `open`: `call`; `answer`; then, as the content is read, an `item` for each chunk and `end`; `close` for each time
 *   it is closed. An opened blob that the caller does not get is closed.
 * - `stat`, `delete`, `usage`: `call`, `answer`.
 * - `list`, `listDetails`, `customers`: `call` when the first item is asked for; an `item` for each page of a list and for
 *   each customer; `end`.
 * - those of `resumable`: see `injectUploadFaults`.
 *
 * Faults keep the port's promises: what was under way is closed, and the error comes through as it is. A fault at `item`
 * or `end` of a put reaches the store as content that throws, so that the store cleans up.
 */
export function injectFaults(store: BlobStore, faults: Faults): BlobStore {
  return {
    put(key, content, options = {}) {
      const { signal } = options
      const taken = takenWith(faults, 'put', content, signal)
      return faults.call('put', () => store.put(key, taken, options), signal)
    },

    async open(key, options) {
      const done = faults.begin()
      try {
        await faults.pass({ method: 'open', moment: 'call' })
        const blob = await store.open(key, options)
        await closingOnFailure(blob, faults.pass({ method: 'open', moment: 'answer' }))
        return blob && openedWith(blob, faults)
      } finally {
        done()
      }
    },

    stat: (key) => faults.call('stat', () => store.stat(key)),
    delete: (key) => faults.call('delete', () => store.delete(key)),
    list: (customer, options) => listedWith(faults, 'list', () => store.list(customer, options)),
    listDetails: (customer, options) =>
      listedWith(faults, 'listDetails', () => store.listDetails(customer, options)),
    usage: (customer) => faults.call('usage', () => store.usage(customer)),
    customers: () => listedWith(faults, 'customers', () => store.customers()),
    ...(store.resumable && { resumable: injectUploadFaults(store.resumable, faults) }),
  }
}

async function closingOnFailure(blob: OpenBlob | undefined, step: Promise<void>): Promise<void> {
  try {
    await step
  } catch (error) {
    await blob?.close()
    throw error
  }
}

function openedWith(blob: OpenBlob, faults: Faults): OpenBlob {
  const done = faults.begin()
  const closing = new AbortController()
  return {
    info: blob.info,
    range: blob.range,
    content: passingItems(() => blob.content, {
      begin: () => done,
      pass: (moment, stopped) =>
        faults.pass({ method: 'open', moment }, AbortSignal.any([closing.signal, stopped])),
    }),
    async close() {
      closing.abort(new Error('The blob was closed'))
      await blob.close()
      done()
      await faults.pass({ method: 'open', moment: 'close' })
    },
  }
}
