import { download } from '../load/download.ts'
import { layOut } from './files.ts'
import { transferLane } from './lanes.ts'
import type { Over } from './over.ts'
import type { Scenario } from './scenario.ts'

export const get1Gib = (over: Over): Scenario => ({
  name: `${over.prefix}get-1gib`,
  title: `GET of a file of 1 GiB${over.suffix}`,
  how: 'One download at a time, out of the page cache, by a client that reads and drops.',
  compared: 'seconds',
  prepare: async (bench) => {
    const all = await over.start(bench)
    const size = bench.isQuick ? 256 * 1024 ** 2 : 1024 ** 3
    await layOut(bench.directory, all, { pattern: 'large', count: 1, size })
    return all.map((one) =>
      transferLane(one, 'GET', size, async () => {
        const { bytes, seconds } = await download(one.port, one.get('large'))
        if (bytes !== size) throw new Error(`${one.name} sent ${bytes} bytes of ${size}`)
        return seconds
      }),
    )
  },
})
