import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { createSite, until, bytesAt } from '@holdfast/testing'
import { openDiskBlobStore, type DiskBlobStore } from '@holdfast/store-disk'
import { createChoices } from '../endurance/soak/choices.ts'
import { buildLiar, type Lie } from './build-liar.ts'
import type { FileSystem } from './file-systems.ts'
import { openPowerDisk } from './power-disk.ts'

export interface UploadCutOptions {
  readonly seed: number
  readonly cuts: number
  readonly fileSystem: FileSystem
  /** Default: none, syncs are syncs. */
  readonly lie?: Lie
}

export interface UploadCutCounts {
  cuts: number
  /** Appends, beginnings and publications that were acknowledged. */
  acknowledged: number
  /** Uploads that were looked at after a cut. */
  judged: number
  readonly violations: string[]
}

/** What was acknowledged of an upload. */
interface Acknowledged {
  readonly offset: number
  readonly isPublished: boolean
}

type Ledger = Map<string, Acknowledged>

const child = fileURLToPath(new URL('children/append-until-cut.ts', import.meta.url))
const customer = 'alice'

/**
 * Has a process append to uploads in pieces on a disk that loses its power, over and over, and holds what is left against what was
 * acknowledged. Ends with the first cut that has violated anything.
 */
export async function cutUploads(options: UploadCutOptions): Promise<UploadCutCounts> {
  const { seed, cuts, fileSystem, lie } = options
  const site = await createSite()
  const place = join(site.path, 'power')
  await mkdir(place)
  const counts: UploadCutCounts = { cuts: 0, acknowledged: 0, judged: 0, violations: [] }
  const choices = createChoices(seed, 'cuts')
  const disk = await openPowerDisk(place, fileSystem)
  try {
    const data = join(disk.directory, 'data')
    // The directory is made without a lie.
    await (await openDiskBlobStore({ directory: data })).close()
    const env = { ...process.env, ...(lie ? buildLiar(site.path, lie) : {}) }
    const ledger: Ledger = new Map()
    while (counts.cuts < cuts && counts.violations.length === 0) {
      const before = counts.acknowledged
      const worker = startWorker(data, choices.below(2 ** 31), env, ledger, counts)
      try {
        await until('it works', () => counts.acknowledged > before + 10, 60_000)
        await delay(choices.below(500))
        await disk.cut()
      } finally {
        await worker.kill()
      }
      counts.cuts++
      await disk.recover(choices.chance(30) ? 'all' : 'part', choices.below(2 ** 31))
      const store = await openDiskBlobStore({ directory: data })
      for (const [id, acknowledged] of ledger) {
        const violation = await judge(store, id, acknowledged).catch(String)
        if (violation !== undefined) counts.violations.push(`${id}: ${violation}`)
        counts.judged++
      }
      await store.close()
    }
    return counts
  } finally {
    await disk.close()
    await site.remove()
  }
}

function startWorker(
  data: string,
  seed: number,
  env: NodeJS.ProcessEnv,
  ledger: Ledger,
  counts: UploadCutCounts,
): { readonly kill: () => Promise<void> } {
  const worker = spawn(process.execPath, [child, data, String(seed)], {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  createInterface(worker.stdout).on('line', (line) => {
    const [what, id = '', bytes = '0'] = line.split(' ')
    ledger.set(id, { offset: Number(bytes), isPublished: what === 'published' })
    counts.acknowledged++
  })
  const closed = once(worker, 'close')
  const kill = async () => {
    worker.kill('SIGKILL')
    await closed
  }
  return { kill }
}

/** What is wrong with an upload; `undefined` if nothing is. */
async function judge(
  store: DiskBlobStore,
  id: string,
  { offset, isPublished }: Acknowledged,
): Promise<string | undefined> {
  const key = { customer, id }
  const state = await store.resumable.state(key)
  if (!state) return 'it is gone'
  if (state.offset < offset) return `it stands at ${state.offset} of ${offset} bytes`
  if (isPublished && !state.published) return 'it is not published any more'
  const blob = state.published && (await store.open({ customer, name: state.plan.name }))
  if (state.published && !blob) return 'its file is gone'
  const content = await bytesOf(blob?.content ?? store.resumable.content(key))
  return content.equals(bytesAt(0, state.offset)) ? undefined : 'it has other bytes'
}

async function bytesOf(content: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of content) chunks.push(chunk)
  return Buffer.concat(chunks)
}
