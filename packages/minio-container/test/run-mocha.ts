import { execFile } from 'node:child_process'
import { join } from 'node:path'

const mocha = join(import.meta.dirname, '../../../node_modules/.bin/mocha')

/** Runs one file with mocha, in this environment but for `variables`; resolves to all that it says. */
export async function runMocha(
  file: string,
  variables: Record<string, string> = {},
): Promise<string> {
  const env = { ...process.env, FORCE_COLOR: '0', ...variables }
  return new Promise((resolve) => {
    const args = ['--no-config', '--timeout', '20000', file]
    execFile(mocha, args, { env }, (_error, stdout, stderr) => resolve(stdout + stderr))
  })
}
