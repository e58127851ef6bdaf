import { truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { download } from '../load/download.ts'
import { upload } from '../load/upload.ts'
import { cpuSecondsOf, memoryOf, resetPeak } from '../measure/process-figures.ts'
import type { Curve } from './curve.ts'

/** Larger files, down from a sparse one and up as they come; the same work often enough to be measured. */
export const fileSize: Curve = {
  name: 'file-size',
  title: 'Size of a file, in bytes',
  unit: 'bytes',
  sizes: [1024, 32 * 1024, 1024 ** 2, 32 * 1024 ** 2, 1024 ** 3, 10 * 1024 ** 3],
  async measure(size, start, directory) {
    const { pid, port, files, get, put } = await start(directory)
    if (put === undefined) throw new Error('holdfast takes a PUT')
    const times = Math.max(1, Math.min(200, Math.floor((64 * 1024 ** 2) / size)))
    await writeFile(join(files, 'file'), '')
    await truncate(join(files, 'file'), size)
    await download(port, get('file'))
    const growth = await memoryOf(pid, 'VmRSS')
    await resetPeak(pid)
    const timed = async (work: () => Promise<unknown>) => {
      const [begin, before] = [performance.now(), await cpuSecondsOf(pid)]
      for (let time = 0; time < times; time++) await work()
      const cpu = ((await cpuSecondsOf(pid)) - before) / times
      return { ms: (performance.now() - begin) / times, cpuPerGiB: (cpu / size) * 1024 ** 3 }
    }
    const down = await timed(() => download(port, get('file')))
    const up = await timed(() => upload(port, put('sent'), size))
    return {
      'GET, ms': down.ms,
      'PUT, ms': up.ms,
      'GET, CPU s/GiB': down.cpuPerGiB,
      'PUT, CPU s/GiB': up.cpuPerGiB,
      'memory grew by, MiB': ((await memoryOf(pid, 'VmHWM')) - growth) / 1024 ** 2,
    }
  },
}
