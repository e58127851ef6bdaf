import fs from 'node:fs'
import { embeddedFile } from './embedded-file.ts'

export * from 'node:fs'

/** Reads from the executable, too. */
export const readFileSync = ((path: fs.PathLike, ...rest: [BufferEncoding]) => {
  const bytes = embeddedFile(path)
  return bytes ? bytes.toString(...rest) : fs.readFileSync(path, ...rest)
}) as typeof fs.readFileSync
