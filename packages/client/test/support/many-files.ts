import type { FileDeleted, FileUploaded } from '../../src/index.ts'

/** Small files. */
export const files = (count: number): readonly { name: string; body: string }[] =>
  Array.from({ length: count }, (_, index) => ({
    name: `${String(index).padStart(5, '0')}.txt`,
    body: `content of ${index}`,
  }))
/** The names, and the codes of their errors. */
export const summary = (results: readonly (FileUploaded | FileDeleted)[]) =>
  results.map(({ name, error }) => [name, error && ('code' in error ? error.code : error.message)])
/** The summary where all is well. */
export const stored = (given: readonly { readonly name: string }[]) =>
  given.map(({ name }) => [name, undefined])
