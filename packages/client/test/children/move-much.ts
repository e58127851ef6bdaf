/** Uploads a file, a stream of its size, and many small files as large together, and downloads it; prints how many MiB of memory the process has had at most. */
import { stat } from 'node:fs/promises'
import { createClient, openFile } from '../../src/index.ts'

const [url = '', name = '', password = '', path = ''] = process.argv.slice(2)
const client = createClient({ url, name, password })
const { size } = await stat(path)

await client.upload('file', await openFile(path))

async function* zeros(): AsyncGenerator<Uint8Array> {
  for (let left = size; left > 0; left -= 2 ** 20) yield new Uint8Array(Math.min(left, 2 ** 20))
}
await client.upload('file', zeros())

const part = 128 * 1024
async function* parts() {
  for (let at = 0; at < size; at += part) yield { name: `part-${at}`, body: new Uint8Array(part) }
}
for await (const { error } of client.uploadMany(parts())) if (error) throw error

let received = 0
for await (const chunk of (await client.download('file')).body) received += chunk.length
if (received !== size) throw new Error(`${received} bytes came`)
console.log(process.resourceUsage().maxRSS / 1024)
