import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process'

/** What runs; it would outlive this process. */
const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** Starts a process that ends with this one at the latest. */
export function spawnOwned(
  command: string,
  args: readonly string[],
  options: SpawnOptions,
): ChildProcess {
  const child = spawn(command, args, options)
  running.add(child)
  child.once('exit', () => running.delete(child))
  return child
}
