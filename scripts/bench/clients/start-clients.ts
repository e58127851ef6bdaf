import type { Bench } from '../scenarios/scenario.ts'
import { dufs } from '../subjects/dufs.ts'
import { createExecutable } from '../subjects/executable.ts'
import { findProgram, lookUpProgram } from '../subjects/find-program.ts'
import { minio } from '../subjects/minio.ts'
import type { Measurable, RunningSubject } from '../subjects/subject.ts'
import type { Client } from './client.ts'
import { curlLoop, parallelCurl } from './curl.ts'
import { holdfastClient } from './holdfast-client.ts'
import { rcloneByS3, rcloneByWebDav } from './rclone.ts'
import { s5cmd, s5cmdPackage } from './s5cmd.ts'

/** What people use instead of `holdfast put` and `holdfast get`. */
const programs: readonly Measurable[] = [
  { name: 'curl', lookUp: lookUpProgram('curl', '--version', 'Debian: curl') },
  { name: 'rclone', lookUp: lookUpProgram('rclone', 'version', 'Debian: rclone') },
  { name: 's5cmd', lookUp: lookUpProgram('s5cmd', 'version', `go install ${s5cmdPackage}`) },
]

/** Starts the servers that the clients need that can be had: curl speaks to holdfast, the others to what they are made for. */
export async function startClients(bench: Bench): Promise<readonly Client[]> {
  const found = new Map<string, string>()
  for (const { name } of await bench.available(programs)) {
    found.set(name, (await findProgram(name)) ?? name)
  }
  const holdfasts = await bench.start([...bench.holdfasts, createExecutable(bench.directory)])
  return [
    ...holdfasts.map((server) => holdfastClient(server, bench.directory)),
    ...(await curlsFor(bench, found.get('curl'))),
    ...(await othersFor(bench, found)),
  ]
}

/** Each has a server of its own, so that none replaces what another one has stored. */
async function curlsFor(bench: Bench, curl: string | undefined): Promise<Client[]> {
  if (curl === undefined) return []
  const [first] = bench.holdfasts
  const [one, other] = first ? await bench.start([first, first]) : []
  return one && other ? [curlLoop(curl, one), parallelCurl(curl, other)] : []
}

async function othersFor(bench: Bench, found: ReadonlyMap<string, string>): Promise<Client[]> {
  const [rclone, s5] = [found.get('rclone'), found.get('s5cmd')]
  const byS3 = async (server: RunningSubject) => [
    ...(rclone ? [rcloneByS3(rclone, server, await bucketOf(server))] : []),
    ...(s5 ? [s5cmd(s5, server, await bucketOf(server))] : []),
  ]
  const [s3] = rclone || s5 ? await bench.start([minio]) : []
  const [webDav] = rclone ? await bench.start([dufs]) : []
  return [
    ...(s3 ? await byS3(s3) : []),
    ...(rclone && webDav ? [rcloneByWebDav(rclone, webDav)] : []),
  ]
}

async function bucketOf({ createBucket, name }: RunningSubject) {
  if (createBucket === undefined) throw new Error(`${name} has no buckets`)
  return createBucket()
}
