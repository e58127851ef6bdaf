import { statSync } from 'node:fs'
import { link, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Client } from '../clients/client.ts'
import { startClients } from '../clients/start-clients.ts'
import type { Figures } from '../measure/figures.ts'
import { observeCommand, type CommandUsage } from '../measure/observe-command.ts'
import type { RunningSubject } from '../subjects/subject.ts'
import { layOut, numbered, settle } from './files.ts'
import type { Bench, Lane, Scenario } from './scenario.ts'
import { settled } from './settled.ts'

/** So many files of so many bytes, of which some are enough to warm up. */
interface Amount {
  readonly count: number
  readonly size: number
  readonly warmUp: number
}

/** The files of a round, which clients store and fetch again. */
interface Source {
  readonly directory: string
  readonly prefix: string
  readonly names: readonly string[]
  readonly size: number
}

const [MiB, GiB] = [1024 ** 2, 1024 ** 3]

const clients =
  '`holdfast` is `put` and `get` of the program for Node.js, `executable` the same as a single file to download, which is its server, too; ' +
  'curl stores files on holdfast; rclone and s5cmd, as they come, speak to MinIO by S3 and to dufs by WebDAV, as the name says. ' +
  '`get` of holdfast syncs each file; the others do not. Processor time and memory are those of the client.'

export const clientSmall: Scenario = {
  name: 'client-small',
  title: 'Clients and files of 4 KiB',
  how:
    '10 000 files out of one directory and into another; 1 000 for curl, which a loop in a shell starts for each file, rclone and s5cmd. ' +
    '`curl --parallel` is one process for all. ' +
    clients,
  compared: 'perSecond',
  rounds: 2,
  prepare: (bench) => {
    const amount = { count: bench.isQuick ? 1000 : 10_000, size: 4096, warmUp: 100 }
    return lanesFor(bench, amount, ({ seconds, ...usage }, count) => ({
      perSecond: count / seconds,
      cpuMicroseconds: (usage.cpuSeconds / count) * 1e6,
      peakMiB: usage.peakMiB,
    }))
  },
}

export const clientLarge: Scenario = {
  name: 'client-large',
  title: 'Clients and a file of 4 GiB',
  how: `One process moves it, on a disk that has nothing else to write. ${clients}`,
  compared: 'seconds',
  prepare: (bench) => {
    const amount = { count: 1, size: (bench.isQuick ? 1 : 4) * GiB, warmUp: 1 }
    return lanesFor(bench, amount, ({ seconds, ...usage }) => ({
      seconds,
      mibPerSecond: amount.size / MiB / seconds,
      cpuPerGiB: (usage.cpuSeconds * GiB) / amount.size,
      peakMiB: usage.peakMiB,
    }))
  },
}

/** A lane for each client and verb. What a client fetches is what it has stored in the same round. */
async function lanesFor(
  bench: Bench,
  { count, size, warmUp }: Amount,
  figures: (usage: CommandUsage, count: number) => Figures,
): Promise<readonly Lane[]> {
  const all = await startClients(bench)
  // Once for all rounds: a disk that takes bursts only now and then would be slower for whoever comes first after this.
  const contents = await layOut(bench.directory, [], { pattern: '{n}', count, size })
  const sources = new Map<string, Promise<Source>>()
  const sourceFor = ({ most = Infinity }: Client, round: number) => {
    const some = contents.slice(0, Math.min(round === 0 ? warmUp : count, most))
    const prefix = `round-${round}-${some.length}-`
    const source = sources.get(prefix) ?? makeSource(bench.directory, prefix, some, size)
    sources.set(prefix, source)
    return source
  }
  const stored = new Map<RunningSubject, string>()
  /** Of large files only those of the round stay. Clients that share a server share the round. */
  const makeRoom = async ({ server }: Client, { prefix }: Source) => {
    if (size >= MiB && stored.get(server) !== prefix) await empty(server.files)
    stored.set(server, prefix)
  }
  const lane = (client: Client, work: 'put' | 'get', move: typeof store) =>
    settled({
      subject: client.name,
      work,
      measure: async (round) => {
        const source = await sourceFor(client, round)
        if (work === 'put') await makeRoom(client, source)
        return figures(await move(client, source, bench), source.names.length)
      },
    })
  return all
    .filter(({ needsMany }) => count > 1 || needsMany !== true)
    .flatMap((client) => [lane(client, 'put', store), lane(client, 'get', fetchBack)])
}

/** Hard links to the contents. Names are new in each round, so that nothing is replaced. */
async function makeSource(
  home: string,
  prefix: string,
  contents: readonly string[],
  size: number,
): Promise<Source> {
  const directory = join(home, `${prefix}source`)
  await mkdir(directory)
  const names = contents.map((_, n) => numbered(`${prefix}{n}`, n))
  for (const [n, content] of contents.entries())
    await link(content, join(directory, names[n] ?? ''))
  await settle()
  return { directory, prefix, names, size }
}

function store(client: Client, source: Source, bench: Bench): Promise<CommandUsage> {
  return observeCommand(client.put(source), placeIn(source.directory, bench))
}

async function fetchBack(client: Client, source: Source, bench: Bench): Promise<CommandUsage> {
  const directory = await mkdtemp(join(bench.directory, 'fetched-'))
  const usage = await observeCommand(client.get(source), placeIn(directory, bench))
  for (const name of source.names) {
    const { size } = statSync(join(directory, name))
    if (size !== source.size) throw new Error(`${client.name} fetched ${size} bytes of ${name}`)
  }
  // Small files stay, since deleting them would slow down the next ones; see upload-small.ts.
  if (source.size >= MiB) await empty(directory)
  return usage
}

async function empty(directory: string): Promise<void> {
  for (const name of await readdir(directory)) await rm(join(directory, name), { recursive: true })
}

const placeIn = (directory: string, { directory: home, interrupted }: Bench) => ({
  directory,
  log: join(home, 'client.log'),
  signal: interrupted,
})
