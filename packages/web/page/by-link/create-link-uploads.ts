import { createLinkClient, nameFromPath } from '@holdfast/client/browser'
import { openStorage } from '../app/open-storage.ts'
import type { NamedFile } from '../uploads/collect-files.ts'
import { createRateMeter } from '../uploads/rate-meter.ts'
import { runUploads, type Uploads } from '../uploads/run-uploads.ts'
import { openUnfinishedUploads } from '../uploads/unfinished-uploads.ts'
import { createLinkTransport } from './link-transport.ts'
import type { LinkTerms } from './link-terms.ts'

/** The uploads by a link. Until the tab is closed, they survive a reload. */
export function createLinkUploads(terms: LinkTerms, address: URL): Uploads {
  const { isPrefix, name } = terms
  const client = createLinkClient({ link: address, retries: 0 })
  const storage = openStorage(() => sessionStorage)
  // What has begun by one link goes on by that one only.
  const unfinished = openUnfinishedUploads(address.pathname + address.search, storage)
  const rate = createRateMeter()
  const uploads = runUploads({
    transport: createLinkTransport(client, terms, { unfinished, rate }),
    unfinished,
    rate,
    onStored() {},
    onIdle() {},
    // As many as the server takes at a time.
    ...(!isPrefix && { lanes: 1 }),
  })
  return {
    ...uploads,
    add(files) {
      const named = (file: NamedFile) => (isPrefix ? nameFromPath(name + file.name) : name)
      uploads.add(files.map((file) => ({ file: file.file, name: named(file) })))
    },
  }
}
