import { execFile } from 'node:child_process'
import { join } from 'node:path'

const mocha = join(import.meta.dirname, '../../../../node_modules/.bin/mocha')

/**
 * Runs one file with mocha, in this environment but for `variables` and the server that is there for all tests; resolves to
 * all that it says.
 */
export async function runMocha(
  file: string,
  variables: Record<string, string> = {},
): Promise<string> {
  const env = { ...process.env, FORCE_COLOR: '0', HOLDFAST_TEST_MINIO: '', ...variables }
  return new Promise((resolve) => {
    const args = ['--no-config', '--timeout', '60000', file]
    execFile(mocha, args, { env }, (_error, stdout, stderr) => resolve(stdout + stderr))
  })
}
