import { once, type BrokenStore } from '../broken-store.ts'
import { brokenUploads } from './broken-uploads.ts'

const shown = 'shows an upload, its plan and its file to another opening'

/** Flaws in what is known of blobs that came as a whole. */
export const remembering: readonly BrokenStore[] = [
  brokenUploads('remembers nothing', `remembering > ${shown}`, (uploads) => ({
    async remember(...given) {
      const upload = await uploads.remember(...given)
      await uploads.discard({ customer: given[0], id: upload.id })
      return upload
    },
  })),
  brokenUploads('remembers no note', `remembering > ${shown}`, (uploads) => ({
    remember: (customer, { note: _lost, ...plan }, published) =>
      uploads.remember(customer, plan, published),
  })),
  brokenUploads('remembers no link', `remembering > ${shown}`, (uploads) => ({
    remember: (customer, { link: _lost, ...plan }, published) =>
      uploads.remember(customer, plan, published),
  })),
  brokenUploads(
    'replaces a create-only plan',
    'remembering > shows a create-only upload, its plan and its file to another opening',
    (uploads) => ({
      remember: (customer, plan, published) =>
        uploads.remember(customer, { ...plan, createOnly: false }, published),
    }),
  ),
  ...[
    'forgets the oldest of a link if there are too many, and none of the customer',
    'forgets in a sweep what several openings have too many of',
  ].map((test) =>
    brokenUploads('forgets nothing', `remembering > ${test}`, (uploads) => {
      const known = new Map<string, Awaited<ReturnType<typeof uploads.remember>>>()
      return {
        async remember(...given) {
          const upload = await uploads.remember(...given)
          known.set(upload.id, upload)
          return upload
        },
        state: async (key) => (await uploads.state(key)) ?? known.get(key.id),
      }
    }),
  ),
  brokenUploads(
    "lets links displace the customer's own",
    'remembering > forgets the oldest of a link if there are too many, and none of the customer',
    (uploads) => {
      const own: string[] = []
      return {
        async remember(customer, plan, published) {
          const upload = await uploads.remember(customer, plan, published)
          if (plan.link === undefined) own.push(upload.id)
          else for (const id of own.splice(0)) await uploads.discard({ customer, id })
          return upload
        },
      }
    },
  ),
  brokenUploads('begins anew instead', `remembering > ${shown}`, (uploads) => ({
    remember: async (customer, plan, published) => ({
      ...(await uploads.begin(customer, plan)),
      ...{ offset: published.size, published },
    }),
  })),
  brokenUploads(
    'takes the name for the id',
    'remembering > gives each an id of its own',
    (uploads) => {
      const known = new Map<string, ReturnType<typeof uploads.remember>>()
      return {
        remember(customer, plan, published) {
          const upload = known.get(plan.name) ?? uploads.remember(customer, plan, published)
          known.set(plan.name, upload)
          return upload
        },
      }
    },
  ),
  brokenUploads(
    'publishes what it remembers',
    'remembering > does not bring the blob back once it is replaced',
    (uploads, store) => ({
      async publish(key) {
        const { plan } = (await uploads.state(key)) ?? { plan: { name: '' } }
        return store.put({ customer: key.customer, name: plan.name }, once(new Uint8Array(1000)))
      },
    }),
  ),
  brokenUploads(
    'takes appends to what it remembers',
    'remembering > lets nothing be appended',
    () => ({ append: async (_key, offset) => offset }),
  ),
  brokenUploads(
    'deletes the blob of what is discarded',
    'remembering > keeps the blob when the upload is discarded',
    (uploads, store) => ({
      async discard(key) {
        const { published } = (await uploads.state(key)) ?? {}
        if (published) await store.delete({ customer: key.customer, name: published.name })
        return uploads.discard(key)
      },
    }),
  ),
  brokenUploads(
    'counts what it forgets',
    'remembering > keeps the blob when the upload has expired, and does not count it',
    (uploads) => {
      let remembered = 0
      return {
        remember(...given) {
          remembered++
          return uploads.remember(...given)
        },
        sweep: async (now) => (await uploads.sweep(now)) + remembered,
      }
    },
  ),
]
