import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

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
export function startTimeOf(pid: number): number | undefined {
  const startTime = Number(statOf(pid)[19])
  return Number.isSafeInteger(startTime) ? startTime : undefined
}

/** What the system says of the process `pid` in proc(5), from its state on; nothing where it is unknown. */
function statOf(pid: number): readonly string[] {
  // The second field is the name in parentheses and may contain anything.
  const [, fields = ''] = /^.*\) (.*)$/s.exec(read(`/proc/${pid}/stat`)) ?? []
  return fields.split(' ')
}

/** Whether a process `pid` runs on this machine and in this container, of any user. */
export function isRunning(pid: number): boolean {
  return exists(pid) && !hasOnlyToBeReaped(statOf(pid))
}

/**
 * Whether a process has ended, and only its parent has not asked for it yet. One that was killed while a thread of it waits for a
 * disk looks the same but for the number of its threads: what that thread does still comes.
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
