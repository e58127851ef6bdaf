import type { ResumableUploads } from '@holdfast/core'
import { listedWith } from './listed-with.ts'
import type { Faults } from './faults.ts'
import { takenWith } from './taken-with.ts'

/**
 * `uploads`, whose calls pass the steps of `faults` under names such as `resumable.append`. The steps of a call, in order:
 *
 * - `append`: as those of `put`; a fault at `item` or `end` reaches the store as content that throws, so that what came
 *   before counts.
 * - `list`, `content`: `call` when the first item is asked for; an `item` for each page or chunk; `end`.
 * - all others: `call`, `answer`.
 */
export function injectUploadFaults(uploads: ResumableUploads, faults: Faults): ResumableUploads {
  const call = <Result>(method: keyof ResumableUploads, body: () => Promise<Result>) =>
    faults.call(`resumable.${method}`, body)
  return {
    begin: (customer, plan) => call('begin', () => uploads.begin(customer, plan)),
    state: (key) => call('state', () => uploads.state(key)),
    append(key, offset, content, options = {}) {
      const { signal } = options
      const taken = takenWith(faults, 'resumable.append', content, signal)
      const append = () => uploads.append(key, offset, taken, options)
      return faults.call('resumable.append', append, signal)
    },
    interrupt: (key) => call('interrupt', () => uploads.interrupt(key)),
    declareLength: (key, length) => call('declareLength', () => uploads.declareLength(key, length)),
    content: (key) => listedWith(faults, 'resumable.content', () => uploads.content(key)),
    publish: (key) => call('publish', () => uploads.publish(key)),
    remember: (customer, plan, published) =>
      call('remember', () => uploads.remember(customer, plan, published)),
    discard: (key) => call('discard', () => uploads.discard(key)),
    list: (customer) => listedWith(faults, 'resumable.list', () => uploads.list(customer)),
    sweep: (now) => call('sweep', () => uploads.sweep(now)),
  }
}
