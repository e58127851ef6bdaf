import { execFile } from 'node:child_process'
import { access, constants } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'

/** Where Debian keeps servers, which is in the `PATH` of root only. */
const moreFolders = ['/usr/local/sbin', '/usr/sbin', '/sbin']

/**
 * The path of the program `name`: what the environment variable `HOLDFAST_BENCH_<NAME>` says, or else the first of that
 * name in `PATH`. `undefined` where there is none.
 */
export async function findProgram(name: string): Promise<string | undefined> {
  const named = process.env[variableFor(name)]
  if (named) return (await isProgram(named)) ? named : undefined
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), ...moreFolders]
  for (const folder of folders) {
    const path = join(folder, name)
    if (await isProgram(path)) return path
  }
  return undefined
}

const variableFor = (name: string) => `HOLDFAST_BENCH_${name.toUpperCase()}`

function isProgram(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  )
}

/** A look-up of the program `name`, which says its version when asked with `flag`; `source` says where one gets it. */
export function lookUpProgram(name: string, flag: string, source: string) {
  return async () => {
    const program = await findProgram(name)
    if (program === undefined) {
      return { missing: `there is no program ${name} (${source}, or ${variableFor(name)})` }
    }
    return { version: (await versionOf(program, flag)).replace(/^nginx version: | \(.*/g, '') }
  }
}

/** What a program says of itself in the first line, asked with `flag`. */
export async function versionOf(program: string, flag: string): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)(program, [flag]).catch(
    // Some end with a failure when they are asked so, and answer all the same.
    (error: unknown) => error as { stdout: string; stderr: string },
  )
  return (stdout || stderr).split('\n', 1)[0]?.trim() ?? ''
}
