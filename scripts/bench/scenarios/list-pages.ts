import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { download } from '../load/download.ts'
import { median } from '../measure/median.ts'
import { observe } from '../measure/observe.ts'
import { holdfastDialect } from '../subjects/holdfast.ts'
import type { RunningSubject } from '../subjects/subject.ts'
import { makeFiles, numbered } from './files.ts'
import type { Lane, Scenario } from './scenario.ts'

const [pattern, pageLength] = ['file-{n}', 1_000]

/** After so long, the time of the pages that are left is taken from those before. In milliseconds. */
const longestMs = 60_000

/** A list of `count` names in pages, beside the same list as a whole. */
export function listPages(name: string, count: number): Scenario {
  return {
    name,
    title: `Pages of 1 000 among ${count.toLocaleString('en').replaceAll(',', ' ')} names`,
    how:
      'One page after the other, each from the last name of the one before, until all names are there, while nothing changes; ' +
      'ms is that of a page, the median of all but the first. After a minute the rest is calculated from the pages so far. ' +
      'Beside it the same list as a whole. Before each of the two a file comes and goes, so that names which were kept are out of date.',
    compared: 'seconds',
    rounds: 2,
    prepare: async (bench) => {
      const holdfasts = await bench.start(bench.holdfasts)
      const files = bench.isQuick ? count / 10 : count
      for (const { files: directory } of holdfasts) {
        makeFiles(directory, { pattern, count: files, size: 0 })
      }
      return holdfasts.flatMap((one) =>
        [wholeLane(one), pagesLane(one, files / pageLength)].map((lane) => afterChange(one, lane)),
      )
    },
  }
}

/** How long a directory must have been unchanged until its names may be kept, and some more, in milliseconds. */
const settledMs = 2_500

/** Changes the directory before each measurement. */
function afterChange({ files }: RunningSubject, lane: Lane): Lane {
  return {
    ...lane,
    async measure(round) {
      const path = join(files, 'changed')
      await writeFile(path, '')
      await rm(path)
      await delay(settledMs)
      return lane.measure(round)
    },
  }
}

function wholeLane({ name, port, pid }: RunningSubject): Lane {
  const measure = async () => {
    const { result, usage } = await observe(pid, () => download(port, holdfastDialect.list()))
    const { seconds, firstByteMs } = result
    return { seconds, firstByteMs, growthMiB: usage.growthMiB }
  }
  return { subject: name, work: 'list', measure }
}

function pagesLane({ name, port, pid }: RunningSubject, pages: number): Lane {
  const measure = async (round: number) => {
    const wanted = round === 0 ? Math.min(3, pages) : pages
    const { result, usage } = await observe(pid, () => timesOf(port, wanted))
    const [first = NaN, ...others] = result
    const sorted = [...others].sort((one, other) => one - other)
    const missing = (wanted - result.length) * median(others)
    const sum = result.reduce((total, ms) => total + ms, missing)
    return {
      seconds: sum / 1000,
      ms: median(others),
      p99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? NaN,
      firstByteMs: first,
      growthMiB: usage.growthMiB,
    }
  }
  return { subject: name, work: 'pages', measure }
}

/** Milliseconds for each of the first pages; fewer than `pages` where they take too long. */
async function timesOf(port: number, pages: number): Promise<readonly number[]> {
  const times: number[] = []
  const request = holdfastDialect.list()
  const limit = performance.now() + longestMs
  while (times.length < pages && performance.now() < limit) {
    const last = times.length * pageLength - 1
    const after = last < 0 ? '' : `&after=${numbered(pattern, last)}`
    const path = `${request.path}?limit=${pageLength}${after}`
    times.push((await download(port, { ...request, path })).seconds * 1000)
  }
  return times
}
