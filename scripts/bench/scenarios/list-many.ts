import { readdir } from 'node:fs/promises'
import { download } from '../load/download.ts'
import { createEventLoopProbe, type EventLoopProbe } from '../measure/event-loop.ts'
import { observe } from '../measure/observe.ts'
import { holdfastDialect } from '../subjects/holdfast.ts'
import type { RunningSubject } from '../subjects/subject.ts'
import { makeFiles } from './files.ts'
import type { Lane, Scenario } from './scenario.ts'

/** A list of many names, beside what the directory itself takes. */
export function listMany(name: string, count: number): Scenario {
  return {
    name,
    title: `List of ${count.toLocaleString('en').replaceAll(',', ' ')} names`,
    how:
      'One at a time; `readdir` is `fs.readdir` of the same directory and `sort` of what it brings, in another process. ' +
      'Meanwhile others ask for `/ping`, one after the other, and a module that is loaded into the server watches how long ' +
      'its event loop is blocked (`perf_hooks`).',
    compared: 'firstByteMs',
    prepare: async (bench) => {
      const probe = createEventLoopProbe(bench.directory)
      const holdfasts = await bench.start(bench.holdfasts, probe.options)
      const files = bench.isQuick ? count / 10 : count
      for (const one of holdfasts)
        makeFiles(one.files, { pattern: 'file-{n}', count: files, size: 0 })
      const [first] = holdfasts
      return [
        ...(first ? [bareLane(first.files)] : []),
        ...holdfasts.map((one) => lane(one, probe)),
      ]
    },
  }
}

function bareLane(directory: string): Lane {
  return {
    subject: 'readdir',
    work: 'list',
    measure: async () => {
      const begin = performance.now()
      const names = await readdir(directory)
      names.sort()
      const ms = performance.now() - begin
      return { seconds: ms / 1000, firstByteMs: ms }
    },
  }
}

function lane(one: RunningSubject, probe: EventLoopProbe): Lane {
  return {
    subject: one.name,
    work: 'list',
    measure: async () => {
      await probe.blockedMs(one.pid)
      const { result, usage } = await observe(one.pid, async () => {
        const listed = download(one.port, holdfastDialect.list())
        const [list, otherMs] = await Promise.all([listed, slowestPing(one.port, listed)])
        return { ...list, otherMs }
      })
      return {
        seconds: result.seconds,
        firstByteMs: result.firstByteMs,
        blockedMs: await probe.blockedMs(one.pid),
        otherMs: result.otherMs,
        peakMiB: usage.peakMiB,
        growthMiB: usage.growthMiB,
      }
    },
  }
}

/** Pings until `end`; resolves with the longest that one took, in milliseconds. */
async function slowestPing(port: number, end: Promise<unknown>): Promise<number> {
  let isOver = false
  const stop = () => void (isOver = true)
  void end.then(stop, stop)
  let slowest = 0
  while (!isOver) {
    const { seconds } = await download(port, holdfastDialect.ping())
    slowest = Math.max(slowest, seconds * 1000)
  }
  return slowest
}
