import { execFile } from 'node:child_process'
import { delimiter, dirname } from 'node:path'
import { promisify } from 'node:util'

/**
 * Runs pnpm, which need not be installed, in the repository at `root`; resolves with what it prints. Rejects with
 * all of it when it fails. Scripts of packages, which are in TypeScript, run by the Node.js that runs this: that of the machine may be
 * older.
 */
export async function packageManager(root: string, args: readonly string[]): Promise<string> {
  const path = [dirname(process.execPath), process.env['PATH']].join(delimiter)
  const options = {
    cwd: root,
    env: { ...process.env, PATH: path, npm_config_update_notifier: 'false' },
    maxBuffer: 2 ** 26,
  }
  const run = promisify(execFile)('npx', ['-y', 'pnpm@12.21.0', ...args], options)
  const { stdout } = await run.catch((error: unknown) => {
    const output = error as { stdout: string; stderr: string }
    const message = `pnpm ${args[0] ?? ''} failed:\n${output.stdout}${output.stderr}`
    throw new Error(message, { cause: error })
  })
  return stdout
}
