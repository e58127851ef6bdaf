import { FileServiceError, type ResumableUploads } from '@holdfast/core'
import { uploadsOf } from '../../../src/support/resumable-harness.ts'
import { once, mapChunks, type BrokenStore } from '../broken-store.ts'
import { brokenUploads, type UploadMethods } from './broken-uploads.ts'

type Flaw = (uploads: ResumableUploads) => UploadMethods

/** Takes each append for one of all or nothing. */
const keepingAllOrNothing: Flaw = (uploads) => ({
  append: (key, offset, content, options) =>
    uploads.append(key, offset, content, { ...options, allOrNothing: true }),
})

/** Takes no append for one of all or nothing. */
const keepingWhatCame: Flaw = (uploads) => ({
  append: (key, offset, content, { allOrNothing: _ignored, ...options } = {}) =>
    uploads.append(key, offset, content, options),
})

/** Methods that `waiting` makes from one that waits for the end of the last append. */
function afterLastAppend(
  uploads: ResumableUploads,
  waiting: (append: () => Promise<unknown>) => UploadMethods,
): UploadMethods {
  let last: Promise<unknown> = Promise.resolve()
  return {
    append(...call) {
      const append = uploads.append(...call)
      last = append.catch(() => {})
      return append
    },
    ...waiting(() => last),
  }
}

/** Flaws in what happens when an append fails, is aborted, ended by a later call, or has company. */
export const interrupted: readonly BrokenStore[] = [
  brokenUploads(
    'loses what came when the content fails',
    'interrupted appends > keeps 300000 bytes when the content fails after them',
    keepingAllOrNothing,
  ),
  brokenUploads(
    'wraps the error of the content',
    'interrupted appends > keeps 1 bytes when the content fails after them',
    (uploads) => ({
      append: (...call) =>
        uploads.append(...call).catch((cause: unknown) => {
          throw new Error('append failed', { cause })
        }),
    }),
  ),
  brokenUploads(
    'takes the end by an error for the end',
    'interrupted appends > keeps 0 bytes when the content fails after them',
    (uploads) => ({ append: (...call) => uploads.append(...call).catch(() => call[1]) }),
  ),
  brokenUploads(
    'does not look at a signal that aborted before',
    'interrupted appends > takes no content when the signal aborted before',
    (uploads) => ({
      append: (key, offset, content, { signal, ...options } = {}) =>
        uploads.append(
          key,
          offset,
          content,
          signal && !signal.aborted ? { signal, ...options } : options,
        ),
    }),
  ),
  brokenUploads(
    'does not look at the signal at the end',
    'interrupted appends > keeps all bytes when the signal aborts in the last step',
    (uploads) => ({
      append: async (key, offset, content, { signal, ...options } = {}) =>
        uploads.append(
          key,
          offset,
          mapChunks(content, (chunk) => {
            signal?.throwIfAborted()
            return chunk
          }),
          options,
        ),
    }),
  ),
  brokenUploads(
    'drops what came when it interrupts',
    'interrupted appends > keeps 300000 bytes of a stalled append that is interrupted',
    keepingAllOrNothing,
  ),
  brokenUploads(
    'refuses to discard while an append is under way',
    'interrupted appends > ends a stalled append before it discards',
    (uploads) => {
      let underWay = 0
      return {
        append(...call) {
          underWay++
          return uploads.append(...call).finally(() => underWay--)
        },
        discard: async (key) => (underWay > 0 ? false : uploads.discard(key)),
      }
    },
  ),
  brokenUploads(
    'goes back at a crash',
    'interrupted appends > goes on after a crash during an append, from no earlier than before',
    () => ({}),
    (store) => ({
      openAfterCrash: async () => {
        const uploads = uploadsOf(store)
        return {
          ...store,
          resumable: {
            ...uploads,
            state: async (key) => {
              const state = await uploads.state(key)
              return state && { ...state, offset: 50_000 }
            },
          },
        }
      },
    }),
  ),
  brokenUploads(
    'keeps what came of an append of all or nothing',
    'all or nothing > keeps none of 1 bytes when the content fails',
    keepingWhatCame,
  ),
  brokenUploads(
    'keeps what came of an append of all or nothing that is interrupted',
    'all or nothing > keeps nothing when it is interrupted',
    keepingWhatCame,
  ),
  brokenUploads(
    'keeps what came of an append of all or nothing that is aborted',
    'all or nothing > keeps nothing when the signal aborts',
    keepingWhatCame,
  ),
  brokenUploads(
    'shows bytes that may be taken back',
    'all or nothing > shows none of the bytes before the end',
    keepingWhatCame,
  ),
  brokenUploads(
    'locks an upload that is being written',
    'appends at once > lets a later append end a stalled one',
    (uploads) => {
      let underWay = 0
      return {
        async append(...call) {
          if (underWay > 0) throw new FileServiceError('upload-conflict', 'The upload is locked')
          underWay++
          return uploads.append(...call).finally(() => underWay--)
        },
      }
    },
  ),
  brokenUploads(
    'compares offsets before it ends the earlier append',
    'appends at once > lets a later append end a stalled one, and then compares its offset',
    (uploads) => {
      let standsAt = 0
      return {
        async append(key, offset, content, options) {
          if (offset === standsAt) await uploads.interrupt(key)
          const now = (await uploads.state(key))?.offset ?? 0
          const reached = await uploads.append(
            key,
            offset === standsAt ? now : offset,
            content,
            options,
          )
          standsAt = reached
          return reached
        },
      }
    },
  ),
  brokenUploads(
    'lets several appends write by turns',
    'appends at once > mixes no bytes of ten appends at once',
    (uploads) => ({
      async append(key, _offset, content, options) {
        for await (const chunk of content) {
          const at = (await uploads.state(key))?.offset ?? 0
          await uploads.append(key, at, once(chunk), options).catch(() => {})
        }
        return (await uploads.state(key))?.offset ?? 0
      },
    }),
  ),
  brokenUploads(
    'acknowledges an append whose bytes another one replaced',
    'appends at once > mixes no bytes of ten appends at once through two openings',
    (uploads) => ({
      append: (key, offset, content, options) =>
        uploads.append(key, offset, content, options).catch(() => offset + 1),
    }),
  ),
]

/** Flaws that make a test wait for as long as it is patient. */
export const hanging: readonly BrokenStore[] = [
  brokenUploads(
    'hangs when stalled content is aborted',
    'interrupted appends > keeps 1 bytes when the content stalls after them and the signal aborts',
    (uploads) => ({
      append: (key, offset, content, { signal: _ignored, ...options } = {}) =>
        uploads.append(key, offset, content, options),
    }),
  ),
  brokenUploads(
    'interrupts nothing',
    'interrupted appends > keeps 1 bytes of a stalled append that is interrupted',
    () => ({ interrupt: async () => {} }),
  ),
  brokenUploads(
    'waits for the append before it says the state',
    'interrupted appends > says the state, and lists, without waiting for an append',
    (uploads) =>
      afterLastAppend(uploads, (append) => ({
        state: (key) => append().then(() => uploads.state(key)),
      })),
  ),
  brokenUploads(
    'waits for the append before it publishes',
    'interrupted appends > ends a stalled append before it publishes',
    (uploads) =>
      afterLastAppend(uploads, (append) => ({
        publish: (key) => append().then(() => uploads.publish(key)),
      })),
  ),
]
