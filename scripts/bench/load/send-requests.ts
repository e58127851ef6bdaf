import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findProgram } from '../subjects/find-program.ts'
import type { BenchRequest } from '../subjects/subject.ts'
import { requestBytes } from './request-bytes.ts'

export interface Load {
  readonly port: number
  /** `{n}` in it becomes another number for each request. */
  readonly request: BenchRequest
  readonly seconds: number
  /** Default: 32. */
  readonly connections?: number
  /** How many numbers there are for `{n}`, up to 1 000 000. Default: 1. */
  readonly count?: number
  /** From one number to the next; one that shares no factor with `count` reaches them all. Default: 1. */
  readonly step?: number
  /** The number before the first. Default: 0. */
  readonly start?: number
}

/** What became of a load. */
export interface Answers {
  readonly requests: number
  readonly seconds: number
  /** Milliseconds within which half of the answers were there. */
  readonly medianMs: number
  /** Milliseconds within which all answers but a hundredth were there. */
  readonly p99Ms: number
}

/** What the programs print that send. */
interface Summary {
  readonly requests: number
  readonly microseconds: number
  readonly p50: number
  readonly p99: number
  readonly failed: number
}

const run = promisify(execFile)

/**
 * Sends a request over and over, on several connections for some seconds, by one thread of wrk, or by autocannon where
 * there is no wrk. Rejects when a request fails or is refused: the speed of errors means nothing.
 */
export async function sendRequests(load: Load): Promise<Answers> {
  const complete = { connections: 32, count: 1, step: 1, start: 0, ...load }
  const wrk = await findProgram('wrk')
  const output = await (wrk === undefined ? byAutocannon(complete) : byWrk(wrk, complete))
  const summary = JSON.parse(/^\{.*\}$/m.exec(output)?.[0] ?? '{}') as Summary
  if (summary.failed > 0) throw new Error(`${summary.failed} requests failed:\n${output}`)
  return {
    requests: summary.requests,
    seconds: summary.microseconds / 1e6,
    medianMs: summary.p50 / 1000,
    p99Ms: summary.p99 / 1000,
  }
}

async function byWrk(wrk: string, load: Required<Load>): Promise<string> {
  const { port, request, seconds, connections, count, step, start } = load
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-bench-'))
  const template = join(folder, 'request')
  const script = join(import.meta.dirname, 'requests.lua')
  try {
    await writeFile(template, requestBytes(request, port))
    const options = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '10s', '-s', script]
    const numbers = [count, step, start].map(String)
    const url = `${request.isSecure ? 'https' : 'http'}://127.0.0.1:${port}/`
    return (await run(wrk, [...options, url, '--', template, ...numbers])).stdout
  } finally {
    await rm(folder, { recursive: true })
  }
}

async function byAutocannon({ request, ...load }: Required<Load>): Promise<string> {
  const { body = Buffer.alloc(0), headers = {}, ...head } = request
  const what = JSON.stringify({ ...load, ...head, headers, body: body.toString('base64') })
  const program = join(import.meta.dirname, '../peers/load.js')
  const running = run(process.execPath, [program])
  // Not as an argument, which the system limits to 128 KiB.
  running.child.stdin?.end(what)
  return (await running).stdout
}
