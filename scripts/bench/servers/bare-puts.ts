/**
 * What the disk itself gives: makes files for some seconds, 32 at a time, each durable by the calls that it takes at
 * least, and without a server around them. Prints how many, and the seconds of processor that they took, as JSON.
 *
 *     UV_THREADPOOL_SIZE=32 node bare-puts.ts FOLDER BYTES SECONDS
 */
import { mkdir, open, rename } from 'node:fs/promises'
import { join } from 'node:path'

const [folder = '', bytes = '', seconds = ''] = process.argv.slice(2)
const temporary = join(folder, 'temporary')
const target = join(folder, 'target')
const content = Buffer.alloc(Number(bytes), 'holdfast')
const end = performance.now() + Number(seconds) * 1000
let files = 0

/** The last sync of the directory, and the one that begins behind it. */
let last = Promise.resolve()
let next: Promise<void> | undefined

await mkdir(temporary, { recursive: true })
await mkdir(target)
await Promise.all(Array.from({ length: 32 }, make))
const { user, system } = process.cpuUsage()
process.stdout.write(JSON.stringify({ files, cpuSeconds: (user + system) / 1e6 }))

async function make(): Promise<void> {
  while (performance.now() < end) {
    const name = `${files++}`
    const file = await open(join(temporary, name), 'wx')
    await file.write(content)
    await file.sync()
    await file.close()
    await rename(join(temporary, name), join(target, name))
    await synced()
  }
}

/** One sync of the directory is for all names that were given before it. */
function synced(): Promise<void> {
  next ??= last.then(async () => {
    next = undefined
    last = syncDirectory()
    await last
  })
  return next
}

async function syncDirectory(): Promise<void> {
  const directory = await open(target)
  await directory.sync()
  await directory.close()
}
