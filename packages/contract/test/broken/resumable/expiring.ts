import type { BlobStore } from '@holdfast/core'
import { hourMs, uploadsOf } from '../../../src/support/resumable-harness.ts'
import { harnessOf, type BrokenStore } from '../broken-store.ts'
import { brokenUploads } from './broken-uploads.ts'

/** Flaws in what uploads and blobs know of each other, and in how uploads end. */
export const expiring: readonly BrokenStore[] = [
  brokenUploads(
    'keeps uploads as blobs of another name',
    'apart from blobs > is no blob, and not counted as one',
    (uploads, store) => ({
      async append(key, ...rest) {
        const reached = await uploads.append(key, ...rest)
        await store.put({ customer: key.customer, name: `.${key.id}` }, uploads.content(key))
        return reached
      },
    }),
  ),
  {
    flaw: 'counts uploads in the usage',
    test: 'apart from blobs > is not counted beside blobs',
    open: async () =>
      harnessOf((store) => ({
        async usage(customer) {
          const { blobs, bytes } = await store.usage(customer)
          const unfinished = await offsetsOf(store, customer)
          return { blobs, bytes: bytes + unfinished }
        },
      })),
  },
  {
    flaw: 'makes a customer of the place of its uploads',
    test: 'apart from blobs > makes only customers of names that customers have',
    open: async () =>
      harnessOf((store) => ({
        async *customers() {
          yield '.uploads'
          yield* store.customers()
        },
      })),
  },
  {
    flaw: 'discards uploads of a name whose blob is deleted',
    test: 'apart from blobs > stays as it is when a blob of its name is put, replaced and deleted',
    open: async () =>
      harnessOf((store) => ({
        async delete(key) {
          const uploads = uploadsOf(store)
          for await (const page of uploads.list(key.customer)) {
            for (const { id } of page) await uploads.discard({ customer: key.customer, id })
          }
          return store.delete(key)
        },
      })),
  },
  brokenUploads(
    'deletes the blob of the name with the upload',
    'apart from blobs > leaves blobs as they are',
    (uploads, store) => ({
      async discard(key) {
        const { plan } = (await uploads.state(key)) ?? {}
        if (plan) await store.delete({ customer: key.customer, name: plan.name })
        return uploads.discard(key)
      },
    }),
  ),
  brokenUploads(
    'lists uploads without their offsets',
    "apart from blobs > lists a customer's unfinished uploads, with their states",
    (uploads) => ({
      async *list(customer) {
        for await (const page of uploads.list(customer)) {
          yield page.map((upload) => ({ ...upload, offset: 0 }))
        }
      },
    }),
  ),
  brokenUploads(
    'lists what is discarded',
    'apart from blobs > lists neither what is published nor what is discarded',
    (uploads) => ({
      begin: (customer, plan) => uploads.begin(customer, plan),
      discard: async () => true,
    }),
  ),
  brokenUploads(
    'gives pages without entries',
    'apart from blobs > lists nothing for a customer without uploads',
    (uploads) => ({
      async *list(customer) {
        yield []
        yield* uploads.list(customer)
      },
    }),
  ),
  brokenUploads(
    'lists an upload on two pages',
    'apart from blobs > lists each of 40 uploads once',
    (uploads) => ({
      async *list(customer) {
        for await (const page of uploads.list(customer)) {
          yield page
          yield page.slice(-1)
        }
      },
    }),
  ),
  brokenUploads(
    'leaves the bytes of what it discards',
    'apart from blobs > leaves nothing of 1000 bytes that are discarded',
    () => ({}),
    () => ({ litter: async () => ['the bytes'] }),
  ),
  brokenUploads(
    'discards twice',
    'apart from blobs > leaves nothing of 0 bytes that are discarded',
    (uploads) => ({
      async discard(key) {
        await uploads.discard(key)
        return true
      },
    }),
  ),
  brokenUploads(
    'sweeps what is gone',
    'apart from blobs > sweeps nothing that is discarded',
    (uploads) => ({ sweep: async (now) => (await uploads.sweep(now)) + 1 }),
  ),
  brokenUploads(
    'shows what has expired to those who list',
    'expiring > is as good as absent once it has expired',
    (uploads) => {
      const begun: Awaited<ReturnType<typeof uploads.begin>>[] = []
      return {
        async begin(customer, plan) {
          const one = await uploads.begin(customer, plan)
          begun.push(one)
          return one
        },
        async *list() {
          yield begun
        },
      }
    },
  ),
  brokenUploads(
    'counts the time from the beginning',
    'expiring > expires later after each change',
    (uploads) => {
      const first = new Map<string, Date>()
      return {
        async begin(customer, plan) {
          const begun = await uploads.begin(customer, plan)
          first.set(begun.id, begun.expiresAt)
          return begun
        },
        async state(key) {
          const state = await uploads.state(key)
          return state && { ...state, expiresAt: first.get(key.id) ?? state.expiresAt }
        },
      }
    },
  ),
  brokenUploads(
    'sweeps one upload at a time',
    'expiring > removes what has expired, of all customers, and says how many',
    (uploads) => ({ sweep: async (now) => Math.min(1, await uploads.sweep(now)) }),
  ),
  brokenUploads(
    'sweeps what has not expired',
    'expiring > leaves alone what has not expired',
    (uploads) => ({ sweep: (now) => uploads.sweep(new Date(now.getTime() + 1000 * hourMs)) }),
  ),
  brokenUploads(
    'counts what was published',
    'expiring > leaves blobs alone, and does not count what was published',
    (uploads) => {
      let published = 0
      return {
        publish: (key) => {
          published++
          return uploads.publish(key)
        },
        sweep: async (now) => (await uploads.sweep(now)) + published,
      }
    },
  ),
  brokenUploads(
    'sweeps uploads that are being written',
    'expiring > leaves alone an upload with an append under way',
    (uploads) => {
      const keys: Parameters<typeof uploads.discard>[0][] = []
      return {
        append: (key, ...rest) => {
          keys.push(key)
          return uploads.append(key, ...rest)
        },
        async sweep(now) {
          for (const key of keys) await uploads.discard(key)
          return uploads.sweep(now)
        },
      }
    },
  ),
  brokenUploads(
    'fails where two sweep at once',
    'expiring > is shared by two openings that sweep at once',
    (uploads) => {
      let underWay = 0
      return {
        async sweep(now) {
          if (underWay > 0) throw new Error('ENOENT')
          underWay++
          return uploads.sweep(now).finally(() => underWay--)
        },
      }
    },
  ),
]

async function offsetsOf(store: BlobStore, customer: string): Promise<number> {
  let sum = 0
  for await (const page of uploadsOf(store).list(customer)) {
    for (const { offset } of page) sum += offset
  }
  return sum
}
