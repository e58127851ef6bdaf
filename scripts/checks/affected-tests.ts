import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { moduleGraph } from './module-graph.ts'

/**
 * Which of the test `files` have to run again when `changed` files have changed: those that import one of them,
 * directly or by way of others, or the package whose `dist` they are in. All, where something is there that nothing
 * imports: it may be read. What nothing imports and is gone was made by a test.
 */
export function affectedTests(
  root: string,
  files: readonly string[],
  changed: readonly string[],
): string[] {
  const reach = moduleGraph(root)
  // A package is imported as `@holdfast/core`, or a part of it as `@holdfast/core/memory`.
  const uses = (file: string, module: string) =>
    [...reach(file)].some((one) => one === module || one.startsWith(`${module}/`))
  const found = changed.map((path) => {
    const module = moduleOf(path)
    const affected = files.filter((file) => uses(file, module))
    const mayBeRead = module === path && existsSync(join(root, path))
    return affected.length === 0 && mayBeRead ? files : affected
  })
  return files.filter((file) => found.some((affected) => affected.includes(file)))
}

/** What tests import for a file: the package that is built of it, or the file. */
function moduleOf(path: string): string {
  const [, built] = /^packages\/([^/]+)\/dist\//.exec(path) ?? []
  return built === undefined ? path : `@holdfast/${built}`
}
