import { createHash } from 'node:crypto'
import { createMemoryBlobStore } from '../../src/memory/memory-blob-store.ts'
import type { UploadLinkOptions, LinkUploads } from '../../src/use-cases/upload-links.ts'
import { arrayOf } from '../content.ts'
import { startUploads, type SomeOptions } from './links-fixture.ts'

/** A link of alice's to `name`, over a store whose clock is that of the links. */
export async function startPieces(
  name: string,
  options: UploadLinkOptions = {},
  more: SomeOptions = {},
) {
  let passed = 0
  const now = () => 1_000_000_000_000 + passed
  const store = createMemoryBlobStore(() => new Date(now()))
  const started = await startUploads(name, options, {
    store,
    now,
    createSha256: () => createHash('sha256'),
    ...more,
  })
  const unfinished = async () => (await arrayOf(store.resumable?.list('alice') ?? none())).flat()
  return {
    ...started,
    files: resumableOf(started.uploads),
    wait: (ms: number) => void (passed += ms),
    unfinished,
    reopened: async () => resumableOf(await started.openUpload()),
  }
}

async function* none() {}

export function resumableOf({ resumable }: LinkUploads) {
  if (!resumable) throw new Error('The store keeps no uploads in pieces')
  return resumable
}
