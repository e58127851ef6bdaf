import { once } from 'node:events'
import { globSync } from 'node:fs'
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
      await build()
    }
  }
}
