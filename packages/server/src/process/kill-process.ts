/**
 * Ends this process at once, where an exit would wait for threads that are in a call to the system, such as a write to a
 * socket that is not read.
 */
export function killProcess(): void {
  process.kill(process.pid, 'SIGKILL')
}
