import type { BlobStore, ResumableUpload, ResumableUploads } from '@holdfast/core'
import type { StoreTimer } from './time-store.ts'

/** What becomes of uploads in pieces. Continued: a further piece came. */
export const uploadEvents = ['begun', 'continued', 'published', 'discarded', 'expired'] as const

export type UploadEvent = (typeof uploadEvents)[number]

/** `uploads` with its durations reported, and `onEvent` called for what becomes of them. */
export function watchResumable(
  uploads: ResumableUploads,
  { timed, taking }: StoreTimer,
  onEvent: (event: UploadEvent) => void,
): NonNullable<BlobStore['resumable']> {
  return {
    ...uploads,
    async begin(customer, plan) {
      const upload = await timed('begin', () => uploads.begin(customer, plan))
      onEvent('begun')
      return upload
    },
    state: (key) => timed('state', () => uploads.state(key)),
    append(key, offset, content, options = {}) {
      let isContinued = offset === 0
      const onState = (upload: ResumableUpload) => {
        if (!isContinued && upload.offset > offset) {
          isContinued = true
          onEvent('continued')
        }
        options.onState?.(upload)
      }
      return taking('append', content, options.signal, (watched) =>
        uploads.append(key, offset, watched, { ...options, onState }),
      )
    },
    async publish(key) {
      const info = await timed('publish', () => uploads.publish(key))
      onEvent('published')
      return info
    },
    async remember(...given) {
      const upload = await uploads.remember(...given)
      onEvent('begun')
      onEvent('published')
      return upload
    },
    async discard(key) {
      const isDiscarded = await timed('discard', () => uploads.discard(key))
      if (isDiscarded) onEvent('discarded')
      return isDiscarded
    },
  }
}
