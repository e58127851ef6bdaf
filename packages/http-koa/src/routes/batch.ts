import type { RouterMiddleware } from '@koa/router'
import { createKeyedLock, type CustomerFiles, type UploadOptions } from '@holdfast/core'
import { noRecorder, type AuditRecorder, type RecordEvent } from '../audit/audit-recorder.ts'
import { exchangeIn } from '../exchange/exchange.ts'
import type { HoldfastState } from '../exchange/holdfast-state.ts'
import { releaseChunks } from '../body/release-chunks.ts'
import { logFault, noLog, type HttpLog } from '../errors/log.ts'
import { errorBody, problems, type ErrorBody } from '../errors/problem.ts'
import { toProblem } from '../errors/status.ts'
import { orderedConcurrentMap, type StartedWork } from './ordered-concurrent-map.ts'
import { streamBody } from '../answer/stream-body.ts'
import { etagOf } from '../http/conditional.ts'
import { isCreateOnly } from '../http/change-conditions.ts'
import { filesOf } from '../middleware/authenticate.ts'
import { receiveBatch, type BatchFile } from '../multipart/receive-batch.ts'
import { prepareFile } from '../multipart/prepare-file.ts'

/**
 * POST /upload/batch: stores each file of a form on its own, and answers one line of JSON per file, in order, as soon
 * as that file is safe or refused. A text field `sha256` goes before its file. A form that breaks off ends with a
 * line that says so; the files before it stay.
 */
export function createBatch(
  log: HttpLog = noLog,
  recorder: AuditRecorder = noRecorder,
): RouterMiddleware<HoldfastState> {
  return async (ctx) => {
    const recordInTrail = recorder(exchangeIn(ctx))
    let recorded = 0
    const record: RecordEvent = (...event) => {
      recorded++
      return recordInTrail(...event)
    }
    try {
      await answerEach(ctx, record)
    } catch (error) {
      // It may be the trail that failed, which has been given the first file then.
      if (recorded === 0) await record('upload', {}, { error })
      throw error
    }
  }

  /** Rejects only before the first line is written. */
  async function answerEach(
    ctx: Parameters<RouterMiddleware<HoldfastState>>[0],
    record: RecordEvent,
  ) {
    const createOnly = isCreateOnly(ctx.req.headers)
    const explain = (error: unknown) => {
      const problem = toProblem(error)
      logFault(log, ctx.state, error, problem)
      return errorBody(problem.status, problem.message)
    }
    const options = { createOnly, ...releaseChunks(ctx.req) }
    const store = storing(filesOf(ctx.state), options, { explain, record })
    const results = orderedConcurrentMap(receiveBatch(ctx.req), filesAtOnce, store)
    const first = await results.next()
    if (first.done) throw problems.noFile()
    // Where the trail fails for the first file, the response's status can still say so.
    if (first.value[0]?.failure) throw first.value[0].failure.error
    ctx.status = 200
    ctx.type = 'application/x-ndjson; charset=utf-8'
    await streamBody(ctx, asLines(first.value, results, explain), () => results.return(undefined))
  }
}

/** How many files of a batch are stored at a time: so many syncs are shared. Only one of them is being received. */
const filesAtOnce = 8

interface Reporting {
  readonly explain: (error: unknown) => ErrorBody
  readonly record: RecordEvent
}

/** What became of a file: its line, or why there is none. */
interface Outcome {
  readonly line?: object
  readonly failure?: { readonly error: unknown }
}

/** Begins to store a file. Files of one name are stored one after the other: the last one stays. */
function storing(
  files: CustomerFiles,
  options: UploadOptions,
  { explain, record }: Reporting,
): (file: BatchFile) => StartedWork<Outcome> {
  const lock = createKeyedLock()
  const upload: CustomerFiles['upload'] = async (name, ...rest) => {
    const unlock = await lock(name)
    return files.upload(name, ...rest).finally(unlock)
  }
  const storeAndRecord = async (file: BatchFile): Promise<Outcome> => {
    try {
      const { line, subject, ending } = await storeOne(file, upload, options, explain)
      await record('upload', subject, ending)
      return { line }
    } catch (error) {
      return { failure: { error } }
    }
  }
  return (file) => {
    const read = Promise.withResolvers<undefined>()
    const content = noting(file.content, () => read.resolve(undefined))
    const result = storeAndRecord({ ...file, content })
    return { taken: Promise.race([read.promise, result]), result }
  }
}

/** `content`; calls `note` when it has been read, or its reader has stopped. */
async function* noting(content: AsyncIterable<Uint8Array>, note: () => void) {
  try {
    yield* content
  } finally {
    note()
  }
}

async function storeOne(
  batchFile: BatchFile,
  upload: CustomerFiles['upload'],
  common: UploadOptions,
  explain: (error: unknown) => ErrorBody,
) {
  const { filename } = batchFile
  let file = filename
  try {
    const prepared = prepareFile({ upload }, batchFile, common, (name) => (file = name))
    const stored = await prepared.publish()
    return {
      line: { filename, statusCode: 200, message: 'OK', etag: etagOf(stored) },
      subject: { file, bytes: stored.size },
    }
  } catch (error) {
    return { line: { filename, ...explain(error) }, subject: { file }, ending: { error } }
  }
}

async function* asLines(
  first: readonly Outcome[],
  rest: AsyncIterable<readonly Outcome[]>,
  explain: (error: unknown) => ErrorBody,
): AsyncIterable<string> {
  try {
    yield* linesOf(first)
    for await (const outcomes of rest) yield* linesOf(outcomes)
  } catch (error) {
    yield asLine(explain(error))
  }
}

/** The lines of files that have been stored or refused, as one text; then throws the failure of the first that has no line. */
function* linesOf(outcomes: readonly Outcome[]): Iterable<string> {
  const failed = outcomes.findIndex(({ failure }) => failure)
  const lines = failed < 0 ? outcomes : outcomes.slice(0, failed)
  if (lines.length > 0) yield lines.map(({ line }) => asLine(line)).join('')
  if (failed >= 0) throw outcomes[failed]?.failure?.error
}

function asLine(value: unknown): string {
  return `${JSON.stringify(value)}\n`
}
