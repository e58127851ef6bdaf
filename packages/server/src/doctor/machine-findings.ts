import { finding, type Finding } from '@holdfast/core'
import { openFilesLimit } from '../listen/limit-connections.ts'

/** What is known of the machine and of this process, which is started as the server would be. */
export interface Machine {
  /** As in `24.9.0`. */
  readonly nodeVersion: string
  /** What `UV_THREADPOOL_SIZE` says. */
  readonly threads: string | undefined
  /** How many files and connections the process may have open; `undefined` if unknown. */
  readonly openFiles: number | undefined
  readonly now: Date
}

const fewThreads = 4
const fewOpenFiles = 4096

/** Looks at the machine. */
export async function lookAtMachine(): Promise<Machine> {
  return {
    nodeVersion: process.versions.node,
    threads: process.env['UV_THREADPOOL_SIZE'],
    openFiles: await openFilesLimit(),
    now: new Date(),
  }
}

/** Whether a server can run on `machine`, and run well. */
export function machineFindings(machine: Machine): readonly Finding[] {
  // One that is too old for the server is too old for this as well.
  const node = finding('ok', 'Node.js', machine.nodeVersion)
  return [node, threads(machine), openFiles(machine), clock(machine)]
}

function threads({ threads: size }: Machine): Finding {
  const count = Number(size ?? fewThreads)
  if (count >= fewThreads) return finding('ok', 'threads', `${count} for files and passwords`)
  const message = `UV_THREADPOOL_SIZE=${size ?? ''} leaves too few for files and passwords`
  return finding('warning', 'threads', message, 'unset UV_THREADPOOL_SIZE')
}

function openFiles({ openFiles: limit }: Machine): Finding {
  if (limit === undefined) {
    return finding('skipped', 'open files', 'this operating system does not report the limit')
  }
  const count = limit === Infinity ? 'any number' : `up to ${limit.toLocaleString('en')}`
  if (limit >= fewOpenFiles) return finding('ok', 'open files', `${count} files and connections`)
  const message = `${count} files and connections; each transfer takes two`
  const remedy = 'LimitNOFILE=65536 in the systemd unit, or in a shell: ulimit -n 65536'
  return finding('warning', 'open files', message, remedy)
}

function clock({ now }: Machine): Finding {
  const year = now.getUTCFullYear()
  if (year >= 2026 && year < 2100) return finding('ok', 'clock', now.toISOString())
  const message = `${now.toISOString()} cannot be right; files would get that time`
  return finding('problem', 'clock', message, 'timedatectl set-ntp true')
}
