import { createHash } from 'node:crypto'
import type { RouterMiddleware } from '@koa/router'
import type { CustomerFiles, ExpectedDigest, UploadOptions } from '@holdfast/core'
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
export function createBatch(log: HttpLog = noLog): RouterMiddleware<HoldfastState> {
  return async (ctx) => {
    const createOnly = isCreateOnly(ctx.req.headers)
    const explain = (error: unknown) => {
      const problem = toProblem(error)
      logFault(log, ctx.state, error, problem)
      return errorBody(problem.status, problem.message)
    }
    const options = { createOnly, ...freeingChunks(ctx.req) }
    const results = storeEach(receiveBatch(ctx.req), filesOf(ctx.state), options, explain)
    const first = await results.next()
    if (first.done) throw problems.noFile()
    ctx.status = 200
    ctx.type = 'application/x-ndjson; charset=utf-8'
    streamBody(ctx, asLines(first.value, results, explain), () => results.return(undefined))
  }
}

async function* storeEach(
  files: AsyncIterable<BatchFile>,
  customerFiles: CustomerFiles,
  common: UploadOptions,
  explain: (error: unknown) => ErrorBody,
): AsyncGenerator<object, undefined> {
  for await (const { filename, content, fields } of files) {
    try {
      const options = { ...common, ...digestOf(fields) }
      await customerFiles.upload(partFileName(filename), content, options)
      yield { filename, statusCode: 200, message: 'OK' }
    } catch (error) {
      yield { filename, ...explain(error) }
    }
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
