import { stat } from 'node:fs/promises'
import { uptime } from 'node:os'
import { basename } from 'node:path'
import { isLocal } from '../files/file-system-type.ts'
import {
  identifyProcess,
  isRunning,
  startTimeOf,
  type ProcessIdentity,
} from './process-identity.ts'

/**
 * The name of a directory that the process `owner` keeps temporary files in. It says who owns the directory, so that it
 * is never without an owner: a file inside could be missing, or half written by a process that was killed.
 */
export function tempDirectoryName(owner: ProcessIdentity, unique: string): string {
  const { pid, startTime, pidNamespace, bootId, hostname } = owner
  // Host names are letters, digits, dots and hyphens by their standard; not all administrators know it.
  const host = hostname
    .toLowerCase()
    .replace(/[^a-z0-9.-]/g, '_')
    .slice(0, 100)
  return `${[pid, startTime, pidNamespace, bootId, unique].join('-')}@${host}`
}

const pattern = /^(\d+)-(\d+)-(\d+)-([0-9a-f]*)-[0-9a-f]+@([a-z0-9._-]*)$/

/** Who owns the directory called `directory`; `undefined` if the name is none that {@link tempDirectoryName} gives. */
export function parseTempDirectoryName(directory: string): ProcessIdentity | undefined {
  const [match, pid, startTime, pidNamespace, bootId = '', hostname = ''] =
    pattern.exec(directory) ?? []
  if (match === undefined) return undefined
  return {
    pid: Number(pid),
    startTime: Number(startTime),
    pidNamespace: Number(pidNamespace),
    bootId,
    hostname,
  }
}

/** What is known when an owner is judged; times in milliseconds since 1970. */
export interface Observation {
  readonly self: ProcessIdentity
  /** When the owner last showed that it lives. */
  readonly heartbeat: number
  readonly now: number
  /** When this machine was started. */
  readonly bootedAt: number
  /** Whether the owner's directory lies on a file system of this machine, such as ext4, and not on a network. */
  readonly isLocal: boolean
}

/** Milliseconds without a heartbeat after which an owner that cannot be looked up is taken for dead. */
export const silenceOfDead = 15 * 60 * 1000

/** Milliseconds that, on a network, a machine of the same host name must have been silent, in case it is another one. */
const silenceOfRebooted = 60 * 1000

/**
 * Whether the process `owner` is certainly gone. In this boot of this machine and this container that is looked up. Where
 * the directory is on a disk of this machine, an owner of this host name and another boot died with that boot. On a network,
 * one that was silent since before this machine was booted did.
 * Any other, in another container or on another machine that shares the directory, is dead after fifteen minutes
 * without a heartbeat.
 */
export function isDead(
  owner: ProcessIdentity,
  { self, heartbeat, now, bootedAt, isLocal }: Observation,
): boolean {
  const silence = now - heartbeat
  const isSameHost =
    parseTempDirectoryName(tempDirectoryName(self, '0'))?.hostname === owner.hostname
  const isSameBoot = owner.bootId === self.bootId && (owner.bootId !== '' || isSameHost)
  if (isSameBoot && owner.pidNamespace === self.pidNamespace) {
    return isGone(owner) ?? silence > silenceOfDead
  }
  const isOtherBoot = isSameHost && owner.bootId !== self.bootId
  // Its heartbeat may be seconds old: some machines boot that fast.
  if (isOtherBoot && isLocal && owner.bootId !== '' && self.bootId !== '') return true
  const isEarlierBoot = isOtherBoot && heartbeat < bootedAt
  return silence > (isEarlierBoot ? silenceOfRebooted : silenceOfDead)
}

/** Whether a process of this machine and container has ended; `undefined` if its pid may have gone to another one. */
function isGone({ pid, startTime }: ProcessIdentity): boolean | undefined {
  if (!isRunning(pid)) return true
  const actual = startTimeOf(pid)
  return actual === undefined || startTime === 0 ? undefined : actual !== startTime
}

/** Who keeps temporary files in a directory. */
export interface TempOwner {
  readonly pid: number
  /** Certainly gone; nobody will go on with the files. */
  readonly isGone: boolean
}

/** The owner of `directory`, which is in a store's `tmp`; `undefined` if its name is none that a store gives. */
export async function findTempOwner(directory: string): Promise<TempOwner | undefined> {
  const owner = parseTempDirectoryName(basename(directory))
  if (!owner) return undefined
  const { mtimeMs: heartbeat } = await stat(directory)
  const now = Date.now()
  const bootedAt = now - uptime() * 1000
  const observation = { self: identifyProcess(), heartbeat, now, bootedAt }
  const isGone = isDead(owner, { ...observation, isLocal: await isLocal(directory) })
  return { pid: owner.pid, isGone }
}
