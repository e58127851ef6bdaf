import { existsSync } from 'node:fs'
import { mkdir, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Where control groups for processors are, and how a group gets its limit (cgroups(7)). */
interface Hierarchy {
  readonly root: string
  limits(quotaUs: number): Readonly<Record<string, string>>
}

/** Short, so that what waits for the next period waits a few milliseconds only. */
const periodUs = 10_000

const versions: readonly Hierarchy[] = [
  {
    root: '/sys/fs/cgroup/cpu',
    limits: (quotaUs) => ({
      'cpu.cfs_period_us': `${periodUs}`,
      'cpu.cfs_quota_us': `${quotaUs}`,
    }),
  },
  {
    root: '/sys/fs/cgroup',
    limits: (quotaUs) => ({ 'cpu.max': `${quotaUs} ${periodUs}` }),
  },
]

/**
 * Lets the process `pid` use no more than the part `share` of one processor from now on. Several processes then scale as if
 * each had a processor of its own, also where the load generator needs one, too. Resolves with what ends it, once the
 * process has ended. Needs root on Linux; rejects where it cannot be had.
 */
export async function ration(pid: number, share: number): Promise<() => Promise<void>> {
  const hierarchy = versions.find(({ root }) => existsSync(join(root, 'cgroup.procs')))
  if (!hierarchy) throw new Error('this system has no control groups')
  const group = join(hierarchy.root, `holdfast-bench-${pid}`)
  await mkdir(group)
  const end = () => rmdir(group)
  try {
    const limits = hierarchy.limits(Math.round(share * periodUs))
    for (const [file, text] of Object.entries(limits)) await writeFile(join(group, file), text)
    await writeFile(join(group, 'cgroup.procs'), `${pid}`)
  } catch (error) {
    await end()
    throw error
  }
  return end
}
