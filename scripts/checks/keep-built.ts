import { once } from 'node:events'
import { globSync } from 'node:fs'
import { stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { watch } from 'chokidar'

/**
 * Calls `build` now, and again after sources of the packages in `root` have changed, never twice at a time. Resolves when
 * it sees every change. The compiler's own watch mode misses changes in builds of this size (microsoft/TypeScript#63867).
 */
export async function keepBuilt(root: string, build: () => Promise<unknown>): Promise<void> {
  const folders = globSync(['packages/*/src', 'packages/web/page'], { cwd: root })
  let isChanged = true
  let wake = () => {}
  const watcher = watch(folders, { cwd: root, ignoreInitial: true })
  watcher.on('all', () => {
    isChanged = true
    wake()
  })
  await once(watcher, 'ready')
  void buildAfterChanges()

  async function buildAfterChanges(): Promise<never> {
    while (true) {
      if (!isChanged) await new Promise<void>((resolve) => (wake = resolve))
      isChanged = false
      const startedAt = new Date()
      await build()
      await outdate(root, startedAt)
    }
  }
}

/**
 * Lets the types of all packages count as built at `startedAt`. The compiler takes every source as built that is older than its record:
 * also one that was saved after it had been read, and before the record was written.
 */
async function outdate(root: string, startedAt: Date): Promise<void> {
  for (const path of globSync('packages/*/dist/.tsbuildinfo', { cwd: root })) {
    const record = join(root, path)
    const { atime, mtime } = await stat(record)
    if (mtime > startedAt) await utimes(record, atime, startedAt)
  }
}
