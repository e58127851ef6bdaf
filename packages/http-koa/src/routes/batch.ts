import { createHash } from 'node:crypto'
import type { RouterMiddleware } from '@koa/router'
import type { CustomerFiles, ExpectedDigest, UploadOptions } from '@holdfast/core'
import { noWitness, type Witness, type WitnessOf } from '../audit/witness.ts'
import type { HoldfastState } from '../holdfast-state.ts'
import { freeingChunks } from '../http/freeing-chunks.ts'
import { noLog, type HttpLog } from '../http/log.ts'
import { logFault } from '../http/log-fault.ts'
import { errorBody, problems, type ErrorBody } from '../http/problem.ts'
import { toProblem } from '../http/status.ts'
import { streamBody } from '../http/stream-body.ts'
import { isCreateOnly } from '../http/upload-conditions.ts'
import { filesOf } from '../middleware/authenticate.ts'
import { expectedSha256 } from '../multipart/expected-sha256.ts'
import { partFileName } from '../multipart/part-file-name.ts'
import { receiveBatch, type BatchFile } from '../multipart/receive-batch.ts'

/**
 * POST /upload/batch: stores each file of a form on its own, and answers one line of JSON per file, in order, as soon
 * as that file is safe or refused. A text field `sha256` goes before its file. A form that breaks off ends with a
 * line that says so; the files before it stay.
 */
export function createBatch(
  log: HttpLog = noLog,
  witnessOf: WitnessOf = noWitness,
): RouterMiddleware<HoldfastState> {
  return async (ctx) => {
    const witness = witnessOf(ctx)
    let told = 0
    const tell: Witness = (...event) => {
      told++
      return witness(...event)
    }
    try {
      await answerEach(ctx, tell)
    } catch (error) {
      // It may be the trail that failed, which knows of the first file then.
      if (told === 0) await tell('upload', {}, { error })
      throw error
    }
  }

  /** Rejects only before the first line is written. */
  async function answerEach(ctx: Parameters<RouterMiddleware<HoldfastState>>[0], tell: Witness) {
    const createOnly = isCreateOnly(ctx.req.headers)
    const explain = (error: unknown) => {
      const problem = toProblem(error)
      logFault(log, ctx.state, error, problem)
      return errorBody(problem.status, problem.message)
    }
    const options = { createOnly, ...freeingChunks(ctx.req) }
    const files = receiveBatch(ctx.req)
    const results = storeEach(files, filesOf(ctx.state), options, { explain, tell })
    const first = await results.next()
    if (first.done) throw problems.noFile()
    ctx.status = 200
    ctx.type = 'application/x-ndjson; charset=utf-8'
    await streamBody(ctx, asLines(first.value, results, explain), () => results.return(undefined))
  }
}

interface Reporting {
  readonly explain: (error: unknown) => ErrorBody
  readonly tell: Witness
}

async function* storeEach(
  files: AsyncIterable<BatchFile>,
  customerFiles: CustomerFiles,
  common: UploadOptions,
  { explain, tell }: Reporting,
): AsyncGenerator<object, undefined> {
  for await (const file of files) {
    const { result, subject, ending } = await storeOne(file, customerFiles, common, explain)
    await tell('upload', subject, ending)
    yield result
  }
}

async function storeOne(
  { filename, content, fields }: BatchFile,
  files: CustomerFiles,
  common: UploadOptions,
  explain: (error: unknown) => ErrorBody,
) {
  let file = filename
  try {
    file = partFileName(filename)
    const { size } = await files.upload(file, content, { ...common, ...digestOf(fields) })
    return {
      result: { filename, statusCode: 200, message: 'OK' },
      subject: { file, bytes: size },
    }
  } catch (error) {
    return { result: { filename, ...explain(error) }, subject: { file }, ending: { error } }
  }
}

/** Hashing costs more than all the rest, so it is done only for who asks. */
function digestOf(fields: BatchFile['fields']): { readonly digest?: ExpectedDigest } {
  const sha256 = expectedSha256(fields)
  if (sha256 === undefined) return {}
  return { digest: { hash: createHash('sha256'), expected: () => sha256 } }
}

async function* asLines(
  first: object,
  rest: AsyncIterable<object>,
  explain: (error: unknown) => ErrorBody,
): AsyncIterable<string> {
  yield `${JSON.stringify(first)}\n`
  try {
    for await (const result of rest) yield `${JSON.stringify(result)}\n`
  } catch (error) {
    yield `${JSON.stringify(explain(error))}\n`
  }
}
