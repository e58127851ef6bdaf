import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { download } from '../load/download.ts'
import { upload } from '../load/upload.ts'
import { median } from '../measure/median.ts'
import type { BenchRequest } from '../subjects/subject.ts'
import type { Curve } from './curve.ts'

const rounds = 15

/** More files of one customer, and one that comes and goes among them. */
export const files: Curve = {
  name: 'files',
  title: 'Files of the customer',
  unit: 'files',
  sizes: [1, 100, 10_000, 100_000, 1_000_000],
  async measure(size, start, directory) {
    const { port, files: folder, get, put, remove, list } = await start(directory)
    if (!put || !remove || !list) throw new Error('holdfast has all of them')
    for (let at = 0; at < size; at++) writeFileSync(join(folder, `file-${at}`), '')
    const page = list()
    const times = async (work: () => Promise<number>) => {
      const all: number[] = []
      for (let round = 0; round < rounds; round++) all.push(await work())
      return median(all)
    }
    const ask = async (request: BenchRequest) => (await download(port, request)).seconds * 1000
    const first = await upload(port, put('first'), 4096)
    return {
      'first upload, ms': first * 1000,
      'upload, ms': await times(async () => (await upload(port, put('one'), 4096)) * 1000),
      'download, ms': await times(() => ask(get('file-0'))),
      'delete, ms': await times(async () => {
        await upload(port, put('gone'), 4096)
        return ask(remove('gone'))
      }),
      'list, first byte, ms': (await download(port, page)).firstByteMs,
      'page of 1000, ms': await ask({ ...page, path: `${page.path}?limit=1000` }),
    }
  },
}
