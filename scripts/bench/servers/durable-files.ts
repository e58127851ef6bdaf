import { closeSync, fsync, openSync, renameSync, unlinkSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const sync = promisify(fsync)

/** Files of one directory, each durable by the calls that it takes at least; changes that come together share a sync of the directory. */
export interface DurableFiles {
  write(name: string, content: Uint8Array): Promise<void>
  remove(name: string): Promise<void>
}

/** As in holdfast, the thread pool makes the syncs, and the main thread the rest. Both folders exist, on one file system. */
export function createDurableFiles(temporary: string, target: string): DurableFiles {
  const directory = openSync(target, 'r')
  /** The last sync of the directory, and the one that begins after it. */
  let last = Promise.resolve()
  let next: Promise<void> | undefined
  let number = 0

  const synced = () =>
    (next ??= last = last.then(() => {
      next = undefined
      return sync(directory)
    }))

  return {
    async write(name, content) {
      const path = join(temporary, `${number++}`)
      const file = openSync(path, 'wx')
      writeSync(file, content)
      await sync(file)
      closeSync(file)
      renameSync(path, join(target, name))
      await synced()
    },
    remove(name) {
      unlinkSync(join(target, name))
      return synced()
    },
  }
}
