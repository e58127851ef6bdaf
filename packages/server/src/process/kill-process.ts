/**
 * Ends this process at once. An exit would wait for threads in a system call, such as a write to a socket that no one reads.
 */
export function killProcess(): void {
  process.kill(process.pid, 'SIGKILL')
}
