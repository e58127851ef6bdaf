import { basename } from 'node:path'
import { usageError } from '../errors/command-error.ts'

/** A file to upload. */
export interface LocalFile {
  /** `-` for standard input. */
  readonly path: string
  /** On the server. */
  readonly name: string
}

/**
 * What the paths are called on the server.
 *
 * @throws CommandError where that is not clear, or two files would get one name
 */
export function localFiles(paths: readonly string[], as: string | undefined): readonly LocalFile[] {
  const [first, second] = paths
  if (first === undefined) throw usageError('Say which file.')
  if (as !== undefined && second !== undefined) {
    throw usageError('--as is the name of one file, and there are several.')
  }
  if (as === '') throw usageError('--as "" is no name.')
  const files = paths.map((path) => ({ path, name: as ?? nameOf(path) }))
  refuseSameNames(files)
  return files
}

function nameOf(path: string): string {
  if (path === '-') throw usageError('Say with --as how standard input is called on the server.')
  return basename(path)
}

function refuseSameNames(files: readonly LocalFile[]): void {
  const paths = new Map<string, string>()
  for (const { path, name } of files) {
    const other = paths.get(name)
    if (other !== undefined) {
      throw usageError(`${other} and ${path} would both be called "${name}"`, [
        'Upload one of them with --as.',
      ])
    }
    paths.set(name, path)
  }
}
