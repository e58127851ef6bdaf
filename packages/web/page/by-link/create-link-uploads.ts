import { nameFromPath } from '@holdfast/client/browser'
import { computed } from '@preact/signals'
import { keepScreenOn } from '../uploads/keep-screen-on.ts'
import type { NamedFile } from '../uploads/collect-files.ts'
import { createRateMeter } from '../uploads/rate-meter.ts'
import { createUploadQueue } from '../uploads/upload-queue.ts'
import type { ShownUploads } from '../uploads/upload-summary.tsx'
import type { UploadQueue } from '../uploads/upload-queue.ts'
import { createLinkTransport } from './link-transport.ts'
import type { LinkTerms } from './link-terms.ts'

/** The uploads by a link. */
export interface LinkUploads extends ShownUploads, UploadQueue {}

/** The queue of a link, and what the browser does while it is busy. */
export function createLinkUploads(terms: LinkTerms, address: URL): LinkUploads {
  const rate = createRateMeter()
  const { isPrefix, name } = terms
  const queue = createUploadQueue({
    transport: createLinkTransport({ terms, address, rate }),
    onStored() {},
    onIdle() {},
    // As many as the server takes at a time.
    ...(!isPrefix && { lanes: 1 }),
  })
  const isBusy = computed(() => {
    const { waiting, running, retrying } = queue.counts.value
    return waiting + running + retrying > 0
  })
  const letScreenSleep = keepScreenOn(isBusy)
  addEventListener('beforeunload', (event) => {
    if (isBusy.peek()) event.preventDefault()
  })
  const resumeAll = () => {
    queue.resume(...queue.items.peek().filter(({ state }) => state.peek().kind === 'retrying'))
  }
  addEventListener('online', resumeAll)
  return {
    ...queue,
    rate,
    isBusy,
    add(files) {
      const named = (file: NamedFile) => (isPrefix ? nameFromPath(name + file.name) : name)
      queue.add(files.map((file) => ({ file: file.file, name: named(file) })))
    },
    end() {
      queue.end()
      letScreenSleep()
    },
  }
}
