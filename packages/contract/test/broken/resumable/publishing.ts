import { expiryWhenFullMs, FileServiceError, type ResumableUploads } from '@holdfast/core'
import { uploadsOf } from '../../../src/support/resumable-harness.ts'
import { harnessOf, once, type BrokenStore } from '../broken-store.ts'
import { brokenUploads, withoutLastByte, type UploadMethods } from './broken-uploads.ts'

const ofUpload = 'an upload is published again'

type Flaw = (uploads: ResumableUploads) => UploadMethods

/** Takes no upload for one that only creates. */
const replacing: Flaw = (uploads) => ({
  begin: (customer, plan) => uploads.begin(customer, { ...plan, createOnly: false }),
})

/** Discards an upload that it does not publish. */
const droppingRefused: Flaw = (uploads) => ({
  publish: (key) =>
    uploads.publish(key).catch(async (error: unknown) => {
      await uploads.discard(key)
      throw error
    }),
})

/** Discards an upload that it has published. */
const forgettingPublished: Flaw = (uploads) => ({
  async publish(key) {
    const info = await uploads.publish(key)
    await uploads.discard(key)
    return info
  },
})

/** Flaws in how uploads become blobs. */
export const publishing: readonly BrokenStore[] = [
  brokenUploads(
    'publishes a byte less',
    'publishing > makes the bytes of all pieces a blob',
    (uploads, store) => ({
      async publish(key) {
        const state = await uploads.state(key)
        const blob = { customer: key.customer, name: state?.plan.name ?? '' }
        return store.put(blob, withoutLastByte(uploads.content(key)))
      },
    }),
  ),
  brokenUploads(
    'describes the blob as it was begun',
    'publishing > makes the bytes of all pieces a blob',
    (uploads) => ({
      publish: async (key) => ({ ...(await uploads.publish(key)), modifiedAt: new Date(0) }),
    }),
  ),
  brokenUploads(
    'shows the file before it is published',
    'publishing > makes the bytes of all pieces a blob',
    (uploads, store) => ({
      async append(key, ...rest) {
        const reached = await uploads.append(key, ...rest)
        const blob = { customer: key.customer, name: 'report.pdf' }
        await store.put(blob, uploads.content(key))
        return reached
      },
    }),
  ),
  brokenUploads(
    'publishes what exceeds the length',
    'publishing > publishes no more bytes than the length that was declared meanwhile',
    (uploads, store) => ({
      async publish(key) {
        const { plan, offset = 0 } = (await uploads.state(key)) ?? {}
        if (offset <= (plan?.length ?? offset)) return uploads.publish(key)
        return store.put({ customer: key.customer, name: plan?.name ?? '' }, uploads.content(key))
      },
    }),
  ),
  brokenUploads(
    'publishes nothing for an upload without a byte',
    'publishing > makes an upload without a byte an empty blob',
    (uploads) => ({
      async publish(key) {
        const state = await uploads.state(key)
        if (state?.offset !== 0) return uploads.publish(key)
        return { name: state.plan.name, size: 0, modifiedAt: new Date(), etag: 'x' }
      },
    }),
  ),
  brokenUploads(
    'publishes what has no length only when one is declared',
    'publishing > takes what has come where no length is known',
    (uploads) => ({
      async publish(key) {
        const state = await uploads.state(key)
        if (state?.plan.length === undefined) {
          throw new FileServiceError('upload-conflict', 'The length is unknown')
        }
        return uploads.publish(key)
      },
    }),
  ),
  brokenUploads(
    'stores beside an earlier blob',
    'publishing > replaces an earlier blob, whose readers read on',
    (uploads, store) => ({
      async publish(key) {
        const state = await uploads.state(key)
        const name = state?.plan.name ?? ''
        const isTaken = await store.stat({ customer: key.customer, name })
        if (!isTaken) return uploads.publish(key)
        return store.put({ customer: key.customer, name: `${name} (1)` }, uploads.content(key))
      },
    }),
  ),
  brokenUploads(
    'lists what is published',
    'publishing > shows the file in the state, which is listed no more',
    (uploads) => {
      const ids: string[] = []
      return {
        async begin(customer, plan) {
          const begun = await uploads.begin(customer, plan)
          ids.push(begun.id)
          return begun
        },
        async *list(customer) {
          const states = await Promise.all(ids.map((id) => uploads.state({ customer, id })))
          yield states.filter((state) => state !== undefined)
        },
      }
    },
  ),
  brokenUploads(
    'forgets an upload that is published',
    'publishing > shows the file in the state, which is listed no more',
    forgettingPublished,
  ),
  brokenUploads(
    'changes names that are odd',
    'publishing > takes the names that the policy allows',
    (uploads) => ({
      begin: (customer, plan) =>
        uploads.begin(customer, { ...plan, name: plan.name.replaceAll(':', '_') }),
    }),
  ),
  brokenUploads(
    'publishes before the length is reached',
    'publishing > refuses before the length is reached, and lets the upload go on',
    (uploads) => ({
      begin: (customer, { length: _lost, ...plan }) => uploads.begin(customer, plan),
    }),
  ),
  brokenUploads(
    'drops an upload whose publication it refuses',
    'publishing > refuses before the length is reached, and lets the upload go on',
    droppingRefused,
  ),
  brokenUploads(
    'takes appends to what is published for no error',
    'publishing > lets nothing be appended afterwards',
    (uploads) => ({ append: (...call) => uploads.append(...call).catch(() => call[1]) }),
  ),
  brokenUploads(
    'replaces in spite of create-only',
    'publishing > refuses a taken name, and keeps blob and upload as they were',
    replacing,
  ),
  brokenUploads(
    'drops a create-only upload that finds the name taken',
    'publishing > refuses a taken name, and keeps blob and upload as they were',
    droppingRefused,
  ),
  brokenUploads(
    'looks whether a name is free, and then publishes',
    'publishing > lets exactly one of five create-only uploads succeed',
    (uploads, store) => ({
      ...replacing(uploads),
      async publish(key) {
        if (await store.stat({ customer: key.customer, name: 'report.pdf' })) {
          throw new FileServiceError('already-exists', 'The name is taken')
        }
        return uploads.publish(key)
      },
    }),
  ),
  brokenUploads(
    'forgets what it has published',
    `publishing again > gives the same answer when ${ofUpload}`,
    forgettingPublished,
  ),
  brokenUploads(
    'finds the name of a create-only upload taken by itself',
    'publishing again > gives the same answer when a create-only upload is published again',
    (uploads) => ({
      async publish(key) {
        if ((await uploads.state(key))?.published) {
          throw new FileServiceError('already-exists', 'The name is taken')
        }
        return uploads.publish(key)
      },
    }),
  ),
  brokenUploads(
    'refuses all but one of several publications',
    'publishing again > gives the same answer to five that publish an upload at once',
    (uploads) => {
      let underWay = 0
      return {
        async publish(key) {
          if (underWay > 0) throw new FileServiceError('upload-conflict', 'It is being published')
          underWay++
          return uploads.publish(key).finally(() => underWay--)
        },
      }
    },
  ),
  ...['replaced', 'deleted'].map((what) =>
    brokenUploads(
      `publishes once more a blob that was ${what}`,
      `publishing again > does not bring an upload back once its blob is ${what}`,
      (uploads, store) => ({
        async publish(key) {
          const { published } = (await uploads.state(key)) ?? {}
          if (!published) return uploads.publish(key)
          await store.put(
            { customer: key.customer, name: published.name },
            once(new Uint8Array(published.size)),
          )
          return published
        },
      }),
    ),
  ),
  brokenUploads(
    'gives what is kept under the name for what was published',
    'publishing again > does not replace the blob of a later upload',
    (uploads, store) => ({
      async publish(key) {
        const info = await uploads.publish(key)
        return (await store.stat({ customer: key.customer, name: info.name })) ?? info
      },
    }),
  ),
  brokenUploads(
    'deletes the blob of a published upload that is discarded',
    'publishing again > keeps the blob when the published upload is discarded',
    (uploads, store) => ({
      async discard(key) {
        const { published } = (await uploads.state(key)) ?? {}
        if (published) await store.delete({ customer: key.customer, name: published.name })
        return uploads.discard(key)
      },
    }),
  ),
]

/** A full store; if it is not `isSound`, it leaves the content open, and what does not fit expires by its plan. */
export const fullStore = (isSound: boolean) =>
  harnessOf((store) => {
    const uploads = uploadsOf(store)
    const tooLong = new Set<string>()
    return {
      resumable: {
        ...uploads,
        async append(key, offset, content, options) {
          const iterator = content[Symbol.asyncIterator]()
          tooLong.delete(key.id)
          for (let at = offset; ;) {
            const step = await iterator.next()
            if (step.done === true) return at
            if (at + step.value.length > 2 ** 21 + 100) {
              if (isSound) await iterator.return?.()
              if (isSound) tooLong.add(key.id)
              throw new FileServiceError('insufficient-storage', 'The store is full')
            }
            at = await uploads.append(key, at, once(step.value), options)
          }
        },
        async state(key) {
          const upload = await uploads.state(key)
          if (!upload || !tooLong.has(key.id)) return upload
          return { ...upload, expiresAt: new Date(Date.now() + expiryWhenFullMs) }
        },
      },
    }
  })
