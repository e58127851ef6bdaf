import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { watch } from 'chokidar'
import { affectedTests } from './affected-tests.ts'
import type { Choice } from './choose-tests.ts'
import { keepBuilt } from './keep-built.ts'

// A program that saves a file writes it in several steps.
const restMs = 30

/**
 * Runs the chosen tests, and then, whenever a file is saved, those that it concerns; builds meanwhile what other packages'
 * tests need, and reports wrong types. Never resolves; a signal ends it.
 */
export async function watchTests(root: string, { files, options }: Choice): Promise<never> {
  const bin = join(root, 'node_modules/.bin')
  const env = { ...process.env, PATH: bin + delimiter + (process.env['PATH'] ?? '') }
  const start = (program: string, ...args: readonly string[]) =>
    spawn(join(bin, program), args, { cwd: root, env, stdio: ['ignore', 'inherit', 'inherit'] })
  await keepBuilt(root, () =>
    untilEnd(start('node', join(import.meta.dirname, '../build-packages.ts'))),
  )
  const changes = await watchSources(root, files)
  await run(files)
  while (true) {
    const { changed, since } = await changes.next()
    const affected = affectedTests(root, files, changed)
    if (affected.length === 0) continue
    console.log(`\n== ${changed.join(', ')}`)
    await run(affected)
    const seconds = (performance.now() - since) / 1000
    console.log(
      `   ${affected.length} of ${files.length} files, ${seconds.toFixed(1)} s after it was saved`,
    )
  }

  async function run(tests: readonly string[]): Promise<void> {
    const mocha = start(
      'mocha',
      '--no-failZero',
      '--reporter',
      'dot',
      ...options.filter((option) => option !== '--watch'),
      ...tests,
    )
    await untilEnd(mocha)
  }
}

/** Resolves when `child` has ended; it ends with this process. */
async function untilEnd(child: ChildProcess): Promise<void> {
  const end = () => child.kill()
  process.once('exit', end)
  await once(child, 'exit')
  process.off('exit', end)
}

interface Change {
  readonly changed: readonly string[]
  /** When the first of them was seen, by `performance.now()`. */
  readonly since: number
}

/** Gathers what is saved in the packages of the tests, and what is built of all packages. */
async function watchSources(
  root: string,
  files: readonly string[],
): Promise<{ next(): Promise<Change> }> {
  const changed = new Set<string>()
  let since = 0
  let wake = () => {}
  const packages = new Set(files.map((file) => file.split('/').slice(0, 2).join('/')))
  const own = [...packages].flatMap((folder) => [`${folder}/src`, `${folder}/test`])
  const folders = globSync(['packages/*/dist', ...own], { cwd: root })
  // Node's own recursive watch follows a file by its inode, and loses it when an editor saves by renaming a new one into its place.
  const watcher = watch(folders, { cwd: root, ignoreInitial: true })
  watcher.on('all', (_event, path) => {
    // Only the compiler needs declarations. Events of folders come with those of the files in them.
    if (!/\.\w+$/.test(path) || /\.(map|d\.ts|tsbuildinfo)$/.test(path)) return
    if (changed.size === 0) since = performance.now()
    changed.add(path)
    wake()
  })
  await once(watcher, 'ready')
  return {
    async next() {
      if (changed.size === 0) await new Promise<void>((resolve) => (wake = resolve))
      await new Promise((resolve) => setTimeout(resolve, restMs))
      const all = { changed: [...changed], since }
      changed.clear()
      return all
    },
  }
}
