import { existsSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import ts from 'typescript'

/**
 * Finds what can be reached from a file of `root` by imports, itself included: our files as paths, packages as they are
 * named. Reads each file once.
 *
 * @param resolve what a package's name stands for beside itself: further files of `root`. Default: nothing
 */
export function moduleGraph(
  root: string,
  resolve: (module: string) => readonly string[] = () => [],
): (file: string) => Set<string> {
  const known = new Map<string, readonly string[]>()

  function importsOf(file: string): readonly string[] {
    const imports = known.get(file) ?? [...readImports(root, file), ...resolve(file)]
    known.set(file, imports)
    return imports
  }

  return (file) => {
    const reached = new Set([file])
    // A set that grows is walked to its end.
    for (const module of reached) for (const next of importsOf(module)) reached.add(next)
    return reached
  }
}

function readImports(root: string, file: string): readonly string[] {
  if (!existsSync(join(root, file))) return []
  const { importedFiles } = ts.preProcessFile(readFileSync(join(root, file), 'utf8'))
  return importedFiles.map(({ fileName }) =>
    fileName.startsWith('.') ? posix.join(posix.dirname(file), fileName) : fileName,
  )
}
