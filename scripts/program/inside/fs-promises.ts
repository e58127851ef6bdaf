import fs from 'node:fs/promises'
import { embeddedFile, embeddedNames } from './embedded-file.ts'

export * from 'node:fs/promises'

/** Reads from the executable, too. */
export const readFile = (async (path: string, encoding?: BufferEncoding) => {
  const bytes = embeddedFile(path)
  if (!bytes) return fs.readFile(path, encoding ?? null)
  return encoding === undefined ? bytes : bytes.toString(encoding)
}) as typeof fs.readFile

/** Lists what is in the executable, too. */
export const readdir = (async (path: string, ...rest: []) =>
  embeddedNames(path) ?? fs.readdir(path, ...rest)) as typeof fs.readdir
