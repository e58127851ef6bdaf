import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** Runs `docker ...args` with `input`, and resolves to what it prints on standard output. */
export async function docker(args: readonly string[], input = ''): Promise<string> {
  const env = { ...process.env, DOCKER_BUILDKIT: process.env['DOCKER_BUILDKIT'] ?? '0' }
  const running = promisify(execFile)('docker', args, { maxBuffer: 64 * 1024 ** 2, env })
  // A program that ends before it has read its input says why by its exit code; the broken pipe says no more.
  running.child.stdin?.on('error', () => {}).end(input)
  return (await running).stdout
}
