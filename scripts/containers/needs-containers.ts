import { existsSync, globSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import ts from 'typescript'
import { mochaArguments } from '../checks/mocha-arguments.ts'

const provider = 'minio-container'

/**
 * Whether the tests that `scripts/test` runs with these arguments need containers: a test file among them imports
 * `@holdfast/minio-container`, or a file beside it that does, and so on. Options such as `--grep` change nothing.
 */
export function needsContainers(root: string, args: readonly string[]): boolean {
  const patterns = mochaArguments(root, args).filter((arg) => arg.endsWith('.test.ts'))
  const ours = (path: string) => !path.split('/').includes('node_modules')
  const seen = new Set<string>()
  return globSync(patterns, { cwd: root })
    .filter(ours)
    .some((file) => reaches(root, file, seen))
}

function reaches(root: string, file: string, seen: Set<string>): boolean {
  if (file.startsWith(`packages/${provider}/src/`)) return true
  if (seen.has(file) || !existsSync(join(root, file))) return false
  seen.add(file)
  const { importedFiles } = ts.preProcessFile(readFileSync(join(root, file), 'utf8'))
  return importedFiles.some(({ fileName }) => {
    if (!fileName.startsWith('.')) return fileName === `@holdfast/${provider}`
    return reaches(root, posix.join(posix.dirname(file), fileName), seen)
  })
}
