import { execFile } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** What `systemd-analyze` says of a unit file whose programs are all there. Needs systemd's tools, not systemd itself. */
export interface UnitAnalysis {
  /** Complaints about what is not understood; empty where all is well. */
  readonly complaints: string
  /** How much of the system the service could do harm to: from 0, nothing, to 10. */
  readonly exposure: number
}

export async function analyzeUnit(unit: URL): Promise<UnitAnalysis> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-unit-'))
  try {
    const program = join(folder, 'program')
    await writeFile(program, '#!/bin/sh\n')
    await chmod(program, 0o755)
    const path = join(folder, 'holdfast.service')
    const text = await readFile(unit, 'utf8')
    await writeFile(path, text.replace(/^(ExecStart=)\S+/m, `$1${program}`))
    const verified = await run('systemd-analyze', ['verify', path])
    const judged = await run('systemd-analyze', ['security', '--offline=yes', '--no-pager', path])
    return {
      complaints: verified.stdout + verified.stderr,
      exposure: Number(/exposure level for \S+: ([\d.]+)/.exec(judged.stdout)?.[1]),
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
