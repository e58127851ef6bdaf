import { constants, createReadStream, openSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { openFile, type RereadableBody } from '@holdfast/client'
import { CommandError } from '../errors/command-error.ts'
import { exitCodes } from '../errors/exit-codes.ts'
import type { FileVersion } from './upload-records.ts'

/** What is at a path: a file, whose upload can go on later, or a stream, whose upload cannot. */
export type LocalBody =
  | { readonly body: RereadableBody; readonly version: FileVersion }
  | { readonly body: Readable; readonly version: undefined }

/**
 * Opens what is at `path`; `-` is standard input.
 *
 * @throws CommandError for a directory; what `node:fs` throws
 */
export async function openLocal(
  path: string,
  open = (file: string) => openFile(file, { mayBlock: true }),
): Promise<LocalBody> {
  if (path === '-') return { body: process.stdin, version: undefined }
  const found = await stat(path)
  if (found.isDirectory()) {
    throw new CommandError(
      exitCodes.failed,
      'It is a directory; name the files in it, such as dir/*, or use sync.',
    )
  }
  if (found.isFIFO()) return { body: openPipe(path), version: undefined }
  // A size of 0 may mean that it is not known, as in /proc, whatever the content is.
  const isStream = !found.isFile() || found.size === 0
  if (isStream) return { body: createReadStream(path), version: undefined }
  const body = await open(path)
  // Not before it is opened: the upload of a file that was replaced in between would go on with the other one's content. A body whose
  // file is replaced from now on fails.
  return { body, version: await stat(path, { bigint: true }) }
}

/** A thread that waits for the writer of a pipe would keep the process from its end. */
function openPipe(path: string): Readable {
  // Elsewhere a pipe without a writer looks like one that has ended.
  if (process.platform !== 'linux') return createReadStream(path)
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  return new Socket({ fd, readable: true, writable: false })
}
