import { readFileSync } from 'node:fs'

/** Linux counts in hundredths of a second for every program, whatever its own clock does. */
const ticksPerSecond = 100

let earlier = 0

/**
 * Returns the seconds of processor time of the child processes that have ended since the last call, with those of the
 * processes that they waited for: call it whenever a child has ended. `undefined` where there is no /proc.
 */
export function processorTimeOfEnded(): number | undefined {
  const all = secondsOfEnded()
  if (all === undefined) return undefined
  const seconds = all - earlier
  earlier = all
  return seconds
}

function secondsOfEnded(): number | undefined {
  try {
    // The second field, the program's name, may contain blanks and parentheses. proc_pid_stat(5): cutime is 16th, cstime 17th.
    const [, fields = ''] = /.*\) (.*)/s.exec(readFileSync('/proc/self/stat', 'utf8')) ?? []
    const [user = 0, system = 0] = fields.split(' ').slice(13, 15).map(Number)
    return (user + system) / ticksPerSecond
  } catch {
    return undefined
  }
}

/** Returns the seconds of processor time of all processes of the machine since it was started; `undefined` where there is no /proc. */
export function processorTimeOfMachine(): number | undefined {
  try {
    // proc_stat(5): user, nice, system, idle, iowait, irq, softirq.
    const [, fields = ''] = /^cpu +(.*)$/m.exec(readFileSync('/proc/stat', 'utf8')) ?? []
    const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = fields.split(' ').map(Number)
    return (user + nice + system + irq + softirq) / ticksPerSecond
  } catch {
    return undefined
  }
}
