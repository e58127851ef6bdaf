import { readdir, readFile } from 'node:fs/promises'

/**
 * The memory in RAM of a process and of all that it has started, theirs included, in MiB. What several of them share counts
 * once (proportional set size, proc(5)).
 */
export async function treeMemoryMiB(pid: number): Promise<number> {
  const parents = await parentsOfAll()
  const isBelow = (each: number): boolean => {
    if (each === pid) return true
    const parent = parents.get(each)
    return parent !== undefined && isBelow(parent)
  }
  const sizes = await Promise.all([...parents.keys()].filter(isBelow).map(proportionalKiB))
  return sizes.reduce((sum, size) => sum + size, 0) / 1024
}

async function parentsOfAll(): Promise<ReadonlyMap<number, number>> {
  const pids = (await readdir('/proc')).map(Number).filter(Number.isInteger)
  const entries = await Promise.all(
    pids.map(async (pid) => [pid, Number((await stateOf(pid))[1])] as const),
  )
  return new Map(entries)
}

/** The fields of a process after its name, which may have spaces; none once it has ended. */
async function stateOf(pid: number): Promise<readonly string[]> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

async function proportionalKiB(pid: number): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '')
  return Number(/^Pss:\s+(\d+) kB$/m.exec(rollup)?.[1] ?? 0)
}
