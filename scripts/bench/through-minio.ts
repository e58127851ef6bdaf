/**
 * How fast files go through holdfast to MinIO and back, beside the same client going to MinIO directly, in one run:
 *
 *     pnpm build && node scripts/bench/through-minio.ts [rounds]
 *
 * Files of 64 MiB, the four ways in turn, so that whatever else the machine does falls on all of them. The client is the
 * same: plain HTTP, with a bucket that needs no signatures. Prints medians and ratios; above 1, holdfast is faster.
 * Needs a container engine and the image of MinIO; after `scripts/test` there are both.
 */
import { once } from 'node:events'
import { Agent, request, type IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { startMinio } from '../../packages/minio-container/src/index.ts'
import {
  createSite,
  credentials,
  startHoldfast,
} from '../../packages/server/test/endurance/holdfast-process.ts'

const MiB = 1024 ** 2
const size = 64 * MiB
const rounds = Number(process.argv[2] ?? 9)
const chunk = Buffer.alloc(MiB, 'holdfast')
const agent = new Agent({ keepAlive: true })

type Headers = Readonly<Record<string, string | number>>

const minio = await startMinio()
const site = await createSite()
const bucket = await minio.createBucket()
const direct = await minio.createBucket()
await minio.openToAll(direct)
const holdfast = await startHoldfast(site.directory, {
  HOLDFAST_STORE: 'minio',
  HOLDFAST_MINIO_ENDPOINT: minio.endpoint,
  HOLDFAST_MINIO_BUCKET: bucket,
  HOLDFAST_MINIO_ACCESS_KEY: minio.accessKey,
  HOLDFAST_MINIO_SECRET_KEY: minio.secretKey,
})

const ways = {
  'upload directly': () => upload(`${minio.endpoint}/${direct}/file`, {}),
  'upload through holdfast': () => upload(`${holdfast.url}/upload/file`, credentials),
  'download directly': () => download(`${minio.endpoint}/${direct}/file`, {}),
  'download through holdfast': () => download(`${holdfast.url}/serve/file`, credentials),
}

try {
  const times = new Map(Object.keys(ways).map((way) => [way, [] as number[]]))
  // The first round is to warm up.
  for (let round = 0; round <= rounds; round++) {
    for (const [way, run] of Object.entries(ways)) {
      const startedAt = performance.now()
      await run()
      if (round > 0) times.get(way)?.push(performance.now() - startedAt)
    }
    process.stderr.write(`\rround ${round} of ${rounds} `)
  }
  process.stderr.write('\n')
  const medians = new Map([...times].map(([way, all]) => [way, median(all)]))
  for (const [way, ms] of medians) {
    console.log(
      `${way.padEnd(26)} ${ms.toFixed(0).padStart(6)} ms, ${((size / MiB / ms) * 1000).toFixed(0)} MiB/s`,
    )
  }
  for (const verb of ['upload', 'download']) {
    const ratio = medians.get(`${verb} directly`)! / medians.get(`${verb} through holdfast`)!
    console.log(`${verb}: ${ratio.toFixed(2)} of the direct way`)
  }
} finally {
  agent.destroy()
  await holdfast.stop()
  await site.remove()
  await minio.stop()
}

function* content(): Iterable<Buffer> {
  for (let sent = 0; sent < size; sent += chunk.length) yield chunk
}

async function upload(url: string, headers: Headers): Promise<void> {
  const outgoing = request(url, {
    method: 'PUT',
    agent,
    headers: { ...headers, 'content-length': size },
  })
  const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>
  await pipeline(Readable.from(content(), { objectMode: false }), outgoing)
  await read(answered, undefined)
}

async function download(url: string, headers: Headers): Promise<void> {
  const outgoing = request(url, { agent, headers })
  outgoing.end()
  await read(once(outgoing, 'response') as Promise<[IncomingMessage]>, size)
}

/** Takes an answer to its end; fails unless it is 200, and has `expected` bytes where that is given. */
async function read(
  answered: Promise<[IncomingMessage]>,
  expected: number | undefined,
): Promise<void> {
  const [incoming] = await answered
  let bytes = 0
  incoming.on('data', (data: Buffer) => (bytes += data.length))
  await once(incoming, 'end')
  if (incoming.statusCode !== 200) throw new Error(`Status ${incoming.statusCode ?? 'unknown'}`)
  if (expected !== undefined && bytes !== expected) throw new Error(`${bytes} bytes`)
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!
}
