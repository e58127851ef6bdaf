import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** Runs curl with these arguments, and resolves with the status that it was answered with at last. */
export async function statusOf(...args: readonly string[]): Promise<number> {
  const quietly = ['-sS', '-o', '/dev/null', '-w', '%{http_code}']
  const { stdout } = await promisify(execFile)('curl', [...quietly, ...args])
  return Number(stdout)
}
