import { AssertionError } from 'chai'
import { expectSoundUpload } from './expect-sound-upload.ts'
import { labelOfFile, type FileState } from './file-operation.ts'
import { findOrder, type Operation } from './find-order.ts'
import type { FileHistory } from './run-clients.ts'

/** Passes when the operations on a file can have happened one after the other, and those on each upload in pieces, too. */
export function expectLinearizable({ name, operations, uploads }: FileHistory): void {
  for (const upload of uploads) expectSoundUpload(upload)
  if (findOrder(operations, undefined, labelOfFile)) return
  const lines = [...operations].sort((a, b) => a.begin - b.begin).map(lineOf)
  throw new AssertionError([`No order explains these answers for ${name}:`, ...lines].join('\n  '))
}

function lineOf({ begin, end, what }: Operation<FileState>): string {
  const moments = `${begin} to ${end === Infinity ? 'the end' : end}`
  return `${moments.padEnd(14)} ${what}`
}
