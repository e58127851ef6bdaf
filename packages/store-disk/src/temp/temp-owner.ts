import { stat } from 'node:fs/promises'
import { uptime, hostname } from 'node:os'
import { basename } from 'node:path'
import { readFileSync, readlinkSync } from 'node:fs'
import { isLocal } from '../files/file-system.ts'

/**
 * The name of the temporary directory of the process `owner`. The name identifies the owner from the moment that the
 * directory exists; a file inside could be missing, or half written by a process that was killed.
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

/** The owner of the directory `directory`; `undefined` if {@link tempDirectoryName} gives no such name. */
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

/** The facts that decide whether an owner is dead; times in milliseconds since 1970. */
export interface Observation {
  readonly self: ProcessIdentity
  /** The time of the owner's last heartbeat. */
  readonly heartbeat: number
  readonly now: number
  /** When this machine was started. */
  readonly bootedAt: number
  /** Whether the owner's directory lies on a file system of this machine, such as ext4, and not on a network. */
  readonly isLocal: boolean
}

/** Milliseconds without a heartbeat after which an owner that cannot be looked up counts as dead. */
const silenceOfDead = 15 * 60 * 1000

/** How long a machine of the same host name must have been silent on a network file system, in milliseconds: it may be another one. */
const silenceOfRebooted = 60 * 1000

/**
 * Whether the process `owner` has certainly ended. A process of this boot and this container is looked up. On a local disk, an owner of
 * this host name and another boot ended with that boot. On a network file system, such an owner is dead if its last heartbeat was before
 * this boot and a minute ago. Any other owner, in another container or on another machine that shares the directory, is dead after fifteen
 * minutes without a heartbeat.
 */
export function isDead(
  owner: ProcessIdentity,
  { self, heartbeat, now, bootedAt, isLocal }: Observation,
): boolean {
  const silence = now - heartbeat
  const ended = hasEnded(owner, self, isLocal)
  if (ended !== undefined) return ended
  const isOtherBoot = isSameHost(owner, self) && owner.bootId !== self.bootId
  const isEarlierBoot = isOtherBoot && heartbeat < bootedAt
  return silence > (isEarlierBoot ? silenceOfRebooted : silenceOfDead)
}

/**
 * Looks up whether the process `owner` has certainly ended; `undefined` if it cannot be looked up. `isLocal` says whether its directory is
 * on a file system of this machine.
 */
export function hasEnded(
  owner: ProcessIdentity,
  self: ProcessIdentity,
  isLocal: boolean,
): boolean | undefined {
  if (isSamePlace(owner, self)) return isGone(owner)
  const isOtherBoot = isSameHost(owner, self) && owner.bootId !== self.bootId
  // This holds even if its heartbeat is seconds old: some machines boot that fast.
  return isOtherBoot && isLocal && owner.bootId !== '' && self.bootId !== '' ? true : undefined
}

function isSameHost(owner: ProcessIdentity, self: ProcessIdentity): boolean {
  return parseTempDirectoryName(tempDirectoryName(self, '0'))?.hostname === owner.hostname
}

/** Whether both are of one boot and one container: then a pid means the same to both. */
function isSamePlace(owner: ProcessIdentity, self: ProcessIdentity): boolean {
  const isSameBoot =
    owner.bootId === self.bootId && (owner.bootId !== '' || isSameHost(owner, self))
  return isSameBoot && owner.pidNamespace === self.pidNamespace
}

/** Whether a process of this machine and container has ended; `undefined` if another process may have its pid now. */
function isGone({ pid, startTime }: ProcessIdentity): boolean | undefined {
  if (!isRunning(pid)) return true
  const actual = startTimeOf(pid)
  return actual === undefined || startTime === 0 ? undefined : actual !== startTime
}

/** The process that owns a temporary directory. */
export interface TempOwner {
  readonly pid: number
  /** Whether the process has certainly ended, so that no one uses the files. */
  readonly isGone: boolean
}

/** Finds the owner of `directory`, in a store's `tmp`; `undefined` if no store makes a directory of that name. */
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

/** Identifies a process of a machine, as far as the system reports it. Unknown numbers are 0, unknown text is ''. */
export interface ProcessIdentity {
  readonly pid: number
  /** When the process started, in the kernel's ticks since boot; a later process of the same pid has another one. */
  readonly startTime: number
  /** Two containers on one machine have different ones; within one, a pid means one process. */
  readonly pidNamespace: number
  /** Hex digits; new with every boot of the machine. */
  readonly bootId: string
  readonly hostname: string
}

/** The identity of this process. Everything but pid and host name is known on Linux only. */
export function identifyProcess(): ProcessIdentity {
  return {
    pid: process.pid,
    startTime: startTimeOf(process.pid) ?? 0,
    pidNamespace: Number(/\d+/.exec(orEmpty(() => readlinkSync('/proc/self/ns/pid')))?.[0] ?? 0),
    bootId: read('/proc/sys/kernel/random/boot_id').replace(/[^0-9a-f]/g, ''),
    hostname: hostname(),
  }
}

/** When the process `pid` of this machine and container started; `undefined` if that is unknown. */
function startTimeOf(pid: number): number | undefined {
  const startTime = Number(statOf(pid)[19])
  return Number.isSafeInteger(startTime) ? startTime : undefined
}

/** The fields of the process `pid` in proc(5), from its state on; none if they are unknown. */
function statOf(pid: number): readonly string[] {
  // The second field is the name in parentheses and may contain anything.
  const [, fields = ''] = /^.*\) (.*)$/s.exec(read(`/proc/${pid}/stat`)) ?? []
  return fields.split(' ')
}

/** Whether a process `pid` of any user runs on this machine and in this container. */
export function isRunning(pid: number): boolean {
  return exists(pid) && !hasOnlyToBeReaped(statOf(pid))
}

/**
 * Whether a process has ended, and only waits for its parent to reap it. A killed process with a thread that still waits for a disk looks
 * the same, except for its number of threads: that thread will still finish its call.
 */
export function hasOnlyToBeReaped(stat: readonly string[]): boolean {
  const [state = ''] = stat
  return ['Z', 'X', 'x'].includes(state) && Number(stat[17]) <= 1
}

function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // Anything but "no such process", such as "not permitted", means that there is one.
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH')
  }
}

function read(path: string): string {
  return orEmpty(() => readFileSync(path, 'utf8'))
}

function orEmpty(look: () => string): string {
  try {
    return look()
  } catch {
    return ''
  }
}
