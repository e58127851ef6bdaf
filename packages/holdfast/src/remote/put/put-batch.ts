import { openFile, type FileToUpload } from '@holdfast/client'
import { endsAll } from '../names/for-each-name.ts'
import type { Remote } from '../session/with-remote.ts'
import type { LocalFile } from './local-files.ts'
import { reportStored } from './put-file.ts'

/**
 * Uploads small files in one request. Each of them is stored or fails, and is reported, on its own.
 *
 * @throws what makes the rest of the command pointless
 */
export async function putBatch(
  files: readonly LocalFile[],
  createOnly: boolean,
  { client, report, signal }: Remote,
): Promise<void> {
  const left = new Map(files.map((file) => [file.name, { ...file, size: 0 }]))
  const end = async (name: string, error?: unknown) => {
    const file = left.get(name)
    if (!file) return
    left.delete(name)
    if (error === undefined) await reportStored(file, report)
    else await report.failed(file.path, error)
  }
  async function* contents(): AsyncGenerator<FileToUpload, void> {
    for (const file of left.values()) {
      try {
        const body = await openFile(file.path)
        file.size = body.size
        yield { name: file.name, body }
      } catch (error) {
        await end(file.name, error)
      }
    }
  }
  try {
    const results = client.uploadMany(contents(), { createOnly, signal })
    for await (const { name, error } of results) await end(name, error)
  } catch (error) {
    if (signal.aborted || endsAll(error)) throw error
    // Of those without a result nothing is known.
    for (const name of left.keys()) await end(name, error)
  }
}
