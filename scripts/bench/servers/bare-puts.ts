/**
 * What the disk itself gives: makes files for some seconds, 32 at a time, each durable by the calls that it takes at
 * least, and without a server around them. As in holdfast, the thread pool makes the syncs, and the main thread the rest.
 * Prints how many, and the seconds of processor that they took, as JSON.
 *
 *     UV_THREADPOOL_SIZE=32 node bare-puts.ts FOLDER BYTES SECONDS
 */
import { closeSync, fsync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const sync = promisify(fsync)

const [folder = '', bytes = '', seconds = ''] = process.argv.slice(2)
const temporary = join(folder, 'temporary')
const target = join(folder, 'target')
const content = Buffer.alloc(Number(bytes), 'holdfast')
const end = performance.now() + Number(seconds) * 1000
let files = 0

/** The last sync of the directory, and the one that begins after it. */
let last = Promise.resolve()
let next: Promise<void> | undefined

mkdirSync(temporary, { recursive: true })
mkdirSync(target)
const directory = openSync(target, 'r')
await Promise.all(Array.from({ length: 32 }, make))
const { user, system } = process.cpuUsage()
process.stdout.write(JSON.stringify({ files, cpuSeconds: (user + system) / 1e6 }))

async function make(): Promise<void> {
  while (performance.now() < end) {
    const name = `${files++}`
    const file = openSync(join(temporary, name), 'wx')
    writeSync(file, content)
    await sync(file)
    closeSync(file)
    renameSync(join(temporary, name), join(target, name))
    await synced()
  }
}

/** One sync of the directory is for all names that were given before it. */
function synced(): Promise<void> {
  next ??= last.then(async () => {
    next = undefined
    last = sync(directory)
    await last
  })
  return next
}
