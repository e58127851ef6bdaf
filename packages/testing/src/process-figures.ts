import { readdir, readFile, writeFile } from 'node:fs/promises'

/** The memory of a process that is in RAM, in MiB: now, and the most there ever was. */
export async function residentMiB(pid: number): Promise<{ now: number; most: number }> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  const figure = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) / 1024
  return { now: figure('VmRSS'), most: figure('VmHWM') }
}

/** Makes the most memory that a process ever had begin anew with what it has now. */
export async function resetPeak(pid: number): Promise<void> {
  await writeFile(`/proc/${pid}/clear_refs`, '5')
}

/** How many descriptors a process has open. */
export async function openDescriptors(pid: number): Promise<number> {
  return (await readdir(`/proc/${pid}/fd`)).length
}

/** The processes that a process has started and that have not ended, such as the workers of a server. */
export async function childrenOf(pid: number): Promise<number[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return children.trim().split(' ').filter(Boolean).map(Number)
}
