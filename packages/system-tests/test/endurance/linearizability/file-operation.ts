import type { Operation } from './find-order.ts'

/** What a name holds: an upload's content, no two of which are the same, or nothing. */
export type FileState = string | undefined

/** What an operation on one file did, by its answer. */
export type FileOperation = Pick<Operation<FileState>, 'what' | 'explains' | 'effect'>

const same = (state: FileState) => state

/** All that can be done to a file, and found. */
export const fileOperation = {
  upload: (content: string): FileOperation => ({
    what: `upload of ${content}`,
    explains: () => true,
    effect: () => content,
  }),
  /** An upload that creates only, and has. */
  create: (content: string): FileOperation => ({
    what: `creation of ${content}`,
    explains: (state) => state === undefined,
    effect: (state) => state ?? content,
  }),
  /** An upload that creates only, and has found the name taken. */
  refused: (content: string): FileOperation => ({
    what: `refused creation of ${content}`,
    explains: (state) => state !== undefined,
    effect: same,
  }),
  read: (content: string): FileOperation => ({
    what: `read of ${content}`,
    explains: (state) => state === content,
    effect: same,
  }),
  /** In a list of names. */
  listed: {
    what: 'listed',
    explains: (state) => state !== undefined,
    effect: same,
  } satisfies FileOperation,
  /** A deletion that found the file. */
  remove: {
    what: 'deletion',
    explains: (state) => state !== undefined,
    effect: () => undefined,
  } satisfies FileOperation,
  /** A deletion that found the file and then removed whatever was there by then: another file, or none. */
  lookAndRemove: [
    { what: 'look of a deletion', explains: (state) => state !== undefined, effect: same },
    { what: 'removal by a deletion', explains: () => true, effect: () => undefined },
  ] satisfies readonly [FileOperation, FileOperation],
  /** A download, a deletion or a list that did not find the file. */
  missing: {
    what: 'nothing found',
    explains: (state) => state === undefined,
    effect: same,
  } satisfies FileOperation,
} as const

export const labelOfFile = (state: FileState): string => state ?? 'nothing'
