import { createHash } from 'node:crypto'
import { createFileService, type FileServiceOptions } from '../../src/file-service.ts'
import { createMemoryBlobStore } from '../../src/memory/memory-blob-store.ts'
import type { ResumableUploads } from '../../src/ports/resumable-uploads.ts'
import type { CustomerFiles } from '../../src/use-cases/customer-files.ts'
import { textOf } from '../content.ts'

interface FixtureOptions extends Partial<Omit<FileServiceOptions, 'store'>> {
  /** What takes the place of methods of the memory store's uploads. */
  readonly change?: (uploads: ResumableUploads) => Partial<ResumableUploads>
}

/** The files of alice, who has no quota, over a memory store. */
export function resumableFixture({ change = () => ({}), ...options }: FixtureOptions = {}) {
  const { resumable: uploads, ...memory } = createMemoryBlobStore()
  if (!uploads) throw new Error('The memory store keeps uploads in pieces')
  const store = { ...memory, resumable: { ...uploads, ...change(uploads) } }
  const createSha256 = () => createHash('sha256')
  const service = createFileService({ store, createSha256, ...options })
  const files = service.filesOf({ name: 'alice' })
  return { store, uploads, service, files, resumable: resumableOf(files) }
}

export function resumableOf({ resumable }: CustomerFiles) {
  if (resumable) return resumable
  throw new Error('The store keeps uploads in pieces')
}

/** The content of a file. */
export async function served(files: CustomerFiles, name: string): Promise<string> {
  return textOf((await files.serve(name)).content)
}

/** The SHA-256 of `text`. */
export function sha256Of(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
