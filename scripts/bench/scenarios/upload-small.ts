import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { formOf, withForm } from '../load/form.ts'
import { peers } from '../subjects/all-subjects.ts'
import { diskAndHttp } from '../subjects/floors.ts'
import type { BenchRequest, RunningSubject } from '../subjects/subject.ts'
import { removeFiles } from './files.ts'
import { requestLane } from './lanes.ts'
import type { Lane, Scenario } from './scenario.ts'
import { settled } from './settled.ts'

/** Files of `size` bytes, each under a new name, as forms and as they are, to whoever takes them. */
export function uploadSmall(name: string, title: string, size: number): Scenario {
  return {
    name,
    title,
    how:
      'Each under a new name, on 32 connections, as a form and as the body of a PUT. holdfast syncs each file and its ' +
      'directory before it answers; the others do not. `disk+http` is Node.js, which does that and nothing else; `disk` is a ' +
      'program that makes files durable in the same way, 32 at a time, without a server around it.',
    compared: 'perSecond',
    prepare: async (bench) => {
      const all = await bench.start([...bench.holdfasts, ...peers, diskAndHttp])
      const content = randomBytes(size)
      const lanes = all.flatMap((one) => uploadLanes(one, content, bench.seconds))
      return [...lanes, bareLane(join(bench.directory, 'bare'), size, bench.seconds)]
    },
  }
}

/** A lane without a server: what comes of a server's work cannot be more than the disk gives. */
export function bareLane(folder: string, size: number, seconds: number): Lane {
  const program = join(import.meta.dirname, '../servers/bare-puts.ts')
  const measure = async (round: number) => {
    const place = `${folder}-${round}`
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [program, place, `${size}`, `${seconds}`],
      { env: { ...process.env, UV_THREADPOOL_SIZE: '32' } },
    )
    if (size > staysUpTo) await rm(place, { recursive: true })
    const { files, cpuSeconds } = JSON.parse(stdout) as { files: number; cpuSeconds: number }
    return { perSecond: files / seconds, cpuMicroseconds: (cpuSeconds / files) * 1e6 }
  }
  return settled({ subject: 'disk', work: 'PUT', measure })
}

/**
 * Bytes up to which files stay until the scenario ends. ext4 without a journal skips the inodes of files that were deleted in the
 * last minutes, and looks at each of them whenever a file is made: a thousand deleted files may cost more than the upload.
 */
const staysUpTo = 64 * 1024

/** A lane for each way of uploading that a subject knows. */
export function uploadLanes(one: RunningSubject, content: Buffer, seconds: number): Lane[] {
  const { form, put } = one
  const lane = (work: string, request: (name: string) => BenchRequest) => {
    const sending = requestLane(one, work, (round) => ({
      request: request(`${work}-${round}-{n}`),
      seconds,
      count: 1_000_000,
    }))
    const measure = async (round: number) => {
      const figures = await sending.measure(round)
      if (content.length > staysUpTo) await removeFiles(one.files)
      return figures
    }
    return settled({ ...sending, measure })
  }
  return [
    ...(form ? [lane('form', (name) => withForm(form(), formOf([name], content)))] : []),
    ...(put ? [lane('PUT', (name) => ({ ...put(name), body: content }))] : []),
  ]
}
