import { stat } from 'node:fs/promises'
import { pooledCalls } from '../files/file-calls.ts'
import { translateFsError } from '../files/translate-fs-error.ts'
import { createFileContent, readByPool } from '../read/file-content.ts'
import type { FileWriter } from './file-writer.ts'

/** What `writer` has been given for the file at `path`. A chunk is the reader's until the next one is asked for. */
export async function* readBack(
  path: string,
  writer: Pick<FileWriter, 'settle'>,
): AsyncIterable<Uint8Array> {
  await writer.settle()
  const { size } = await translateFsError(stat(path))
  const file = await translateFsError(pooledCalls.open(path, 'r'))
  yield* createFileContent(readByPool(file), { offset: 0, length: size }, true).content
}
