import { readFile, writeFile } from 'node:fs/promises'

/** How much processor time a process and those it has started have used so far, in seconds, steps of a hundredth. */
export async function cpuSecondsOf(pid: number): Promise<number> {
  const all = await Promise.all((await treeOf(pid)).map(cpuTicks))
  return all.reduce((sum, ticks) => sum + ticks, 0) / 100
}

/** How much those have used that this process had started and that have ended, with those that they had started. */
export async function cpuSecondsOfEnded(): Promise<number> {
  const [, , user, system] = await cpuFields('self')
  return (Number(user) + Number(system)) / 100
}

/** Resident memory of a process and those it has started, in bytes: now, or the most since it was last reset. */
export async function memoryOf(pid: number, kind: 'VmRSS' | 'VmHWM'): Promise<number> {
  const all = await Promise.all((await treeOf(pid)).map((one) => kibibytes(one, kind)))
  return all.reduce((sum, memory) => sum + memory, 0) * 1024
}

/** Makes the peak begin anew from what is resident now. */
export async function resetPeak(pid: number): Promise<void> {
  for (const one of await treeOf(pid)) await writeFile(`/proc/${one}/clear_refs`, '5')
}

async function treeOf(pid: number): Promise<number[]> {
  return [pid, ...(await Promise.all((await childrenOf(pid)).map(treeOf))).flat()]
}

/** The processes that `pid` has started itself, and that run. */
export async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
  return text.split(' ').filter(Boolean).map(Number)
}

async function cpuTicks(pid: number): Promise<number> {
  const [user, system] = await cpuFields(pid)
  return Number(user) + Number(system)
}

// Fields 14 to 17, proc(5); the second, the program's name, may have spaces and parentheses in it.
async function cpuFields(pid: number | 'self'): Promise<string[]> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8')
  return text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15)
}

async function kibibytes(pid: number, kind: string): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(new RegExp(`^${kind}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1])
}
