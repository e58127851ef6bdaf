import type { ResumableUpload } from '@holdfast/core'
import { uploadsOf } from '../../../src/support/resumable-harness.ts'
import { harnessOf, type BrokenStore } from '../broken-store.ts'
import { brokenUploads } from './broken-uploads.ts'

/** Flaws in what is known of an upload before its first byte, and in its id. */
export const beginning: readonly BrokenStore[] = [
  brokenUploads('forgets the note', 'beginning > gives back a note of one line', (uploads) => ({
    begin: (customer, { note: _lost, ...plan }) => uploads.begin(customer, plan),
  })),
  brokenUploads(
    'cuts the note at the end of its line',
    'beginning > gives back a note of every kind of character',
    (uploads) => ({
      begin: (customer, plan) =>
        uploads.begin(customer, { ...plan, note: plan.note?.split('\r')[0] ?? '' }),
    }),
  ),
  brokenUploads(
    'forgets that an upload is create-only',
    'beginning > gives back a plan that is create-only',
    (uploads) => ({
      begin: (customer, { createOnly: _lost, ...plan }) => uploads.begin(customer, plan),
    }),
  ),
  brokenUploads(
    'takes a length of no bytes for an unknown one',
    'beginning > gives back a plan with a length of no bytes',
    (uploads) => ({
      begin: (customer, { length, ...plan }) =>
        uploads.begin(customer, { ...plan, ...(length && { length }) }),
    }),
  ),
  brokenUploads(
    'takes seconds for milliseconds',
    'beginning > expires as long after the beginning as the plan says',
    (uploads) => ({
      async begin(customer, plan) {
        const begun = await uploads.begin(customer, plan)
        return { ...begun, expiresAt: new Date(Date.now() + plan.expiresAfterMs * 1000) }
      },
    }),
  ),
  {
    flaw: 'keeps its uploads in one process',
    test: 'beginning > shows another opening what was begun',
    open: async () => harnessOf(undefined, { openAgain: async () => harnessOf().store }),
  },
  brokenUploads(
    'forgets which link has let an upload in',
    'beginning > shows another opening what was begun',
    (uploads) => ({
      begin: (customer, { link: _lost, ...plan }) => uploads.begin(customer, plan),
    }),
  ),
  brokenUploads(
    'forgets which login has begun an upload',
    'beginning > gives back a plan of a further login',
    (uploads) => ({
      begin: (customer, { login: _lost, ...plan }) => uploads.begin(customer, plan),
    }),
  ),
  brokenUploads('forgets a declared length', 'beginning > takes a length later', () => ({
    declareLength: async () => {},
  })),
  brokenUploads(
    'lets a later length win',
    'beginning > takes the same length again, and no other one',
    (uploads) => ({
      declareLength: (key, length) => uploads.declareLength(key, length).catch(() => {}),
    }),
  ),
  brokenUploads(
    'takes a length below the bytes that it has',
    'beginning > takes no length below the bytes that it has',
    (uploads) => ({
      declareLength: (key, length) => uploads.declareLength(key, length).catch(() => {}),
    }),
  ),
  brokenUploads('counts its uploads for ids', 'ids > cannot be guessed', (uploads) => {
    let count = 0
    return {
      async begin(customer, plan): Promise<ResumableUpload> {
        const begun = await uploads.begin(customer, plan)
        return { ...begun, id: `upload-${String(++count).padStart(16, '0')}` }
      },
    }
  }),
  brokenUploads(
    'gives ids with a slash',
    'ids > are made of the characters that paths and addresses take',
    (uploads) => ({
      async begin(customer, plan) {
        const begun = await uploads.begin(customer, plan)
        return { ...begun, id: `${customer}/${begun.id}` }
      },
    }),
  ),
  brokenUploads(
    'finds uploads by their ids alone',
    "ids > find nothing of another customer's",
    (uploads) => {
      const owners = new Map<string, string>()
      return {
        async begin(customer, plan) {
          const begun = await uploads.begin(customer, plan)
          owners.set(begun.id, customer)
          return begun
        },
        state: ({ customer, id }) => uploads.state({ id, customer: owners.get(id) ?? customer }),
      }
    },
  ),
  brokenUploads(
    'fails for an id that is none',
    'ids > that no store gives find nothing',
    (uploads) => ({
      async state(key) {
        if (key.id.includes('\0')) throw new TypeError('The path must not contain NUL')
        return uploads.state(key)
      },
    }),
  ),
  brokenUploads(
    'takes an append to no upload for the beginning of one',
    'ids > of no upload find nothing',
    (uploads) => ({
      append: (key, offset, content, options) =>
        uploads.append(key, offset, content, options).catch(() => 10),
    }),
  ),
  {
    flaw: 'keeps no uploads in pieces at all',
    test: 'publishing > makes an upload without a byte an empty blob',
    open: async () => {
      const { store, ...harness } = harnessOf()
      const { resumable: _left, ...rest } = store
      return { ...harness, store: rest }
    },
  },
  {
    flaw: 'drops the characters of customers that paths do not take',
    test: 'ids > belong to customers with odd names, too',
    open: async () =>
      harnessOf((store) => {
        const uploads = uploadsOf(store)
        const plain = (customer: string) => customer.replaceAll('%', '_')
        return {
          resumable: {
            ...uploads,
            begin: (customer, plan) => uploads.begin(plain(customer), plan),
            append: (key, ...rest) =>
              uploads.append({ ...key, customer: plain(key.customer) }, ...rest),
            list: (customer) => uploads.list(plain(customer)),
            publish: (key) => uploads.publish({ ...key, customer: plain(key.customer) }),
          },
        }
      }),
  },
  brokenUploads(
    'ends an append of whoever has the same id',
    "ids > end no append of another customer's",
    (uploads) => {
      const customers = new Map<string, string>()
      return {
        async begin(customer, plan) {
          const begun = await uploads.begin(customer, plan)
          customers.set(begun.id, customer)
          return begun
        },
        interrupt: ({ customer, id }) =>
          uploads.interrupt({ id, customer: customers.get(id) ?? customer }),
      }
    },
  ),
]
