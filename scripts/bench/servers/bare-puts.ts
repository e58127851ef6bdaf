/**
 * The floor of an upload without a server: makes durable files for some seconds, 32 at a time. Prints how many, and the seconds of
 * processor that they took, as JSON.
 *
 *     UV_THREADPOOL_SIZE=32 node bare-puts.ts FOLDER BYTES SECONDS
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createDurableFiles } from './durable-files.ts'

const [folder = '', bytes = '', seconds = ''] = process.argv.slice(2)
const [temporary, target] = [join(folder, 'temporary'), join(folder, 'target')]
for (const each of [temporary, target]) mkdirSync(each, { recursive: true })
const store = createDurableFiles(temporary, target)
const content = Buffer.alloc(Number(bytes), 'holdfast')
const end = performance.now() + Number(seconds) * 1000
let files = 0

async function make(): Promise<void> {
  while (performance.now() < end) await store.write(`${files++}`, content)
}

await Promise.all(Array.from({ length: 32 }, make))
const { user, system } = process.cpuUsage()
process.stdout.write(JSON.stringify({ files, cpuSeconds: (user + system) / 1e6 }))
