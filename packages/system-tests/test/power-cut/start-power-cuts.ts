import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import {
  createSite,
  type HoldfastServer,
  runHoldfast,
  startHoldfast,
  until,
} from '@holdfast/testing'
import { messageOf } from '@holdfast/core'
import { createChoices, type Choices } from '../endurance/soak/choices.ts'
import { buildLiar, type Lie } from './build-liar.ts'
import type { FileSystem } from './file-systems.ts'
import { judgeFiles, judgeHistory } from './judge-files.ts'
import { createNameLedger, type NameLedger, type NameViolation } from './name-ledger.ts'
import { work, type ClientNames } from './power-client.ts'
import { judgeUpload } from './power-uploads.ts'
import { openPowerDisk, type PowerDisk } from './power-disk.ts'

export interface PowerCutOptions {
  /** What all choices follow from. How requests and the cut fall together is the machine's affair. */
  readonly seed: number
  readonly cuts: number
  readonly fileSystem: FileSystem
  /** Whether what is replaced or deleted is kept. Default: no. */
  readonly keepsReplaced?: boolean
  /** Default: none, syncs are syncs. */
  readonly lie?: Lie
  /** Hears of each cut, with all counts so far. */
  readonly onCut?: (counts: PowerCutCounts) => void
  /** Ends the run before the next cut. */
  readonly signal?: AbortSignal
}

export interface PowerCutCounts {
  cuts: number
  /** Operations that were acknowledged. */
  acknowledged: number
  /** Names that were looked at after a cut. */
  judged: number
  /** Uploads in pieces that were looked at after a cut. */
  uploads: number
  /** Blocks of 4 KiB that had been written and not flushed when the power was cut. */
  cached: number
  readonly violations: Violation[]
}

/** A name that does not hold what it must, or something else that is not as it should be. */
export type Violation =
  | NameViolation
  | { readonly damage: 'litter' | 'doctor' | 'no start'; readonly description: string }

const clients = 6
const namesPerClient = 8

/** Cuts between two runs of `holdfast doctor`, which takes as long as all else that is looked at. */
const cutsPerDoctor = 4

/**
 * Has clients work on a real server whose disk loses its power, over and over; after each cut the disk is mounted and
 * examined, the server started, and every name held against what was acknowledged. Ends with the first cut that has
 * violated anything. Needs root, or sudo without a password, FUSE, and loop devices.
 */
export async function startPowerCuts(options: PowerCutOptions): Promise<PowerCutCounts> {
  const { seed, fileSystem, lie, keepsReplaced = false } = options
  const site = await createSite()
  const place = join(site.path, 'power')
  await mkdir(place)
  const numbers = { cuts: 0, acknowledged: 0, judged: 0, uploads: 0, cached: 0 }
  const counts: PowerCutCounts = { ...numbers, violations: [] }
  let disk: PowerDisk | undefined
  try {
    disk = await openPowerDisk(place, fileSystem)
    const data = join(disk.directory, 'data')
    const start = (env: Readonly<Record<string, string>>) =>
      startHoldfast(['--data', data, ...(keepsReplaced ? ['--keep-replaced', '30d'] : [])], {
        cwd: site.path,
        env,
      })
    // The directory is made without a lie: a server that does not even start shows less than one that has lost files.
    const first = await start({})
    first.signal('SIGTERM')
    await first.ended
    const env = lie ? buildLiar(site.path, lie) : {}
    await cutOften({ ...options, counts, disk, data, cwd: site.path, start: () => start(env) })
    return counts
  } catch (error) {
    const reason = messageOf(error)
    throw new Error(`${fileSystem}, seed ${seed}, cut ${counts.cuts}: ${reason}`, { cause: error })
  } finally {
    await disk?.close()
    await site.remove()
  }
}

interface Run extends PowerCutOptions {
  readonly counts: PowerCutCounts
  readonly disk: PowerDisk
  readonly data: string
  readonly cwd: string
  start(): Promise<HoldfastServer>
}

async function cutOften(run: Run): Promise<void> {
  const { seed, cuts, counts, disk, signal, onCut } = run
  const names = Array.from({ length: clients }, (_, client) => clientNames(client, seed))
  const choices = createChoices(seed, 'cuts')
  let server: HoldfastServer | undefined = await run.start()
  try {
    while (server && counts.cuts < cuts && isFine(counts) && signal?.aborted !== true) {
      await cutOnce(run, server, names, choices)
      counts.cuts++
      const loss = choices.chance(30) ? 'all' : 'part'
      counts.cached += await disk.recover(loss, choices.below(2 ** 31))
      server = await run.start().catch((error: unknown) => {
        counts.violations.push({ damage: 'no start', description: String(error) })
        return undefined
      })
      if (server) await judge(run, server, names)
      onCut?.(counts)
    }
  } finally {
    await server?.kill()
  }
}

function isFine({ violations }: PowerCutCounts): boolean {
  return violations.length === 0
}

function clientNames(client: number, seed: number): ClientNames {
  const names = Array.from({ length: namesPerClient }, (_, index) => `client-${client}-${index}`)
  const ledgers = new Map(names.map((name) => [name, createNameLedger(name)]))
  return {
    client,
    ledgers,
    choices: createChoices(seed, `client ${client}`),
    uploads: [],
    renaming: undefined,
  }
}

/** Has the clients work until the power is cut, and kills the server. */
async function cutOnce(
  { counts, disk }: Run,
  server: HoldfastServer,
  names: readonly ClientNames[],
  choices: Choices,
): Promise<void> {
  let isPowered = true
  const enough = counts.acknowledged + clients
  const report = { acknowledged: () => counts.acknowledged++, isPowered: () => isPowered }
  const working = Promise.all(names.map((ones) => work(server.url, ones, report)))
  try {
    await Promise.race([
      working,
      until('clients work', () => counts.acknowledged >= enough, 60_000),
    ])
    await Promise.race([working, delay(choices.below(1000))])
    isPowered = false
    await disk.cut()
    // Requests that come now show what the server makes of a disk that is gone.
    await delay(choices.below(30))
  } finally {
    await server.kill()
    await working
  }
}

/** Whether the rename that the cut has interrupted has happened, or has not: not by half, and nothing is lost. */
function judgeRename(names: ClientNames): readonly Violation[] {
  const { renaming, ledgers } = names
  names.renaming = undefined
  if (!renaming) return []
  const { from, to, moved, replaced } = renaming
  const [left, entered] = [ledgers.get(from)?.kept(), ledgers.get(to)?.kept()]
  const isAsBefore = left === moved && entered === replaced
  const hasHappened = left === undefined && entered === moved
  if (isAsBefore || hasHappened) return []
  const description = `${from} was renamed to ${to} by half: ${from} ${left ? 'is' : 'is not'} there, ${to} ${entered ? 'is' : 'is not'}`
  return [{ name: from, damage: 'neither', description }]
}

/** Holds what is left against what was acknowledged. */
async function judge(
  { counts, data, cwd, lie, keepsReplaced = false }: Run,
  server: HoldfastServer,
  names: readonly ClientNames[],
): Promise<void> {
  const ledgers = new Map<string, NameLedger>(names.flatMap((ones) => [...ones.ledgers]))
  counts.judged += ledgers.size
  counts.violations.push(...(await judgeFiles(server.url, ledgers)))
  for (const ones of names) counts.violations.push(...judgeRename(ones))
  if (keepsReplaced) counts.violations.push(...(await judgeHistory(server.url, ledgers)))
  for (const upload of names.flatMap(({ uploads }) => uploads.splice(0))) {
    const ledger = ledgers.get(upload.name)
    const violation = ledger && (await judgeUpload(server.url, upload, ledger))
    if (violation) counts.violations.push(violation)
    counts.uploads++
  }
  const owners = await readdir(join(data, 'tmp'))
  const litter = await Promise.all(owners.map((owner) => readdir(join(data, 'tmp', owner))))
  // The directory of marks that lists make, which is empty, stays until a list ends.
  const others = owners.filter((owner) => owner !== 'walks')
  if (others.length !== 1 || litter.flat().length > 0) {
    const description = `tmp/ has ${owners.join(', ')} with ${litter.flat().length} files`
    counts.violations.push({ damage: 'litter', description })
  }
  if (lie || counts.cuts % cutsPerDoctor !== 0) return
  const doctor = await runHoldfast(['doctor', '--data', data], { cwd })
  if (doctor.code !== 0) counts.violations.push({ damage: 'doctor', description: doctor.stdout })
}
