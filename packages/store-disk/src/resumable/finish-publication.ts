import { join } from 'node:path'
import type { BlobInfo } from '@holdfast/core'
import { changeDurably } from '../files/change-durably.ts'
import { crashPoint } from '../files/crash-point.ts'
import { isAbsence } from '../files/system-error.ts'
import { publishedName, recordName, type UploadSite } from './upload-site.ts'

interface Finished {
  readonly directory: string
  readonly published?: BlobInfo
  readonly content?: { readonly path: string }
}

/** Notes that the blob is durable, and syncs the directory that its content has left. */
export async function finishPublication(
  { calls }: UploadSite,
  { directory, published, content }: Finished,
): Promise<BlobInfo> {
  if (!published) throw new Error(`${directory} has no content`)
  const note = async () => {
    // The second name of a blob that was linked.
    if (content) await calls.unlink(content.path)
    await calls.rename(join(directory, recordName), join(directory, publishedName))
  }
  await changeDurably(directory, note, calls).catch((error: unknown) => {
    // It was noted before.
    if (!isAbsence(error)) throw error
  })
  crashPoint('upload-published')
  return published
}
