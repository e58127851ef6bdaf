import { execFile } from 'node:child_process'
import { cpus, release, totalmem, type } from 'node:os'
import { promisify } from 'node:util'
import { findProgram, versionOf } from './subjects/find-program.ts'

/** Processors, memory and system of this machine, as a reader of results wants to know them. */
export function describeMachine(): string {
  const [first, ...others] = cpus()
  const memory = Math.round(totalmem() / 1024 ** 3)
  return `${others.length + 1} × ${first?.model.trim() ?? 'unknown'}, ${memory} GiB, ${type()} ${release()}`
}

/** The program that small requests are sent by. */
export async function describeGenerator(): Promise<string> {
  const wrk = await findProgram('wrk')
  if (wrk === undefined) return 'autocannon'
  return (await versionOf(wrk, '-v')).replace(/ \[.*/, '')
}

/** The commit of the checkout at `root`, with a `+` where files have changed since; `unknown` without git. */
export async function commitOf(root: string): Promise<string> {
  const git = async (...args: string[]) =>
    (await promisify(execFile)('git', ['-C', root, ...args])).stdout.trim()
  try {
    const hasChanged = (await git('status', '--porcelain', '--untracked-files=no')) !== ''
    return (await git('rev-parse', '--short', 'HEAD')) + (hasChanged ? '+' : '')
  } catch {
    return 'unknown'
  }
}
