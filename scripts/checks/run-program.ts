import { spawn } from 'node:child_process'
import { delimiter, join } from 'node:path'

// Nothing here takes longer; what does is stuck, and CI should say so instead of waiting for its own end.
const limitMs = 30 * 60 * 1000

/**
 * Runs one of the programs of `root`'s node_modules/.bin in `root`, its output going where ours goes.
 * Resolves to whether it ended well; a program that cannot start, is killed or takes over 30 minutes has not.
 * A signal that ends us ends it first.
 */
export async function runProgram(
  root: string,
  [program = '', ...args]: string[],
): Promise<boolean> {
  const bin = join(root, 'node_modules/.bin')
  const child = spawn(join(bin, program), args, {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    timeout: limitMs,
    // What a test starts as plain `node` is the Node that the project pins.
    env: { ...process.env, PATH: bin + delimiter + (process.env['PATH'] ?? '') },
  })
  const stop = (signal: NodeJS.Signals) => {
    child.kill(signal)
    process.exit(130)
  }
  process.once('SIGINT', stop).once('SIGTERM', stop)
  const ended = await new Promise<boolean>((resolve) => {
    child.once('error', (error) => {
      console.error(`${program}: ${error.message}`)
      resolve(false)
    })
    child.once('close', (code) => resolve(code === 0))
  })
  process.off('SIGINT', stop).off('SIGTERM', stop)
  return ended
}
