import { Readable } from 'node:stream'
import type { RouterMiddleware } from '@koa/router'
import type { CustomerFiles } from '@holdfast/core'
import type { HoldfastState } from '../holdfast-state.ts'
import { errorBody, problems } from '../http/problem.ts'
import { toProblem } from '../http/status.ts'
import { isCreateOnly } from '../http/upload-conditions.ts'
import { filesOf } from '../middleware/authenticate.ts'
import { partFileName } from '../multipart/part-file-name.ts'
import { receiveBatch, type BatchFile } from '../multipart/receive-batch.ts'

/**
 * POST /upload/batch: stores each file of a form on its own, and answers one line of JSON per file, in order, as soon as that file is
 * safe or refused. A form that breaks off ends with a line that says so; the files before it stay.
 */
export const batch: RouterMiddleware<HoldfastState> = async (ctx) => {
  const createOnly = isCreateOnly(ctx.req.headers)
  const results = storeEach(receiveBatch(ctx.req), filesOf(ctx.state), createOnly)
  const first = await results.next()
  if (first.done) throw problems.noFile()
  ctx.status = 200
  ctx.type = 'application/x-ndjson; charset=utf-8'
  ctx.body = Readable.from(asLines(first.value, results), { objectMode: false })
}

async function* storeEach(
  files: AsyncIterable<BatchFile>,
  customerFiles: CustomerFiles,
  createOnly: boolean,
): AsyncGenerator<object, undefined> {
  for await (const { filename, content } of files) {
    try {
      await customerFiles.upload(partFileName(filename), content, { createOnly })
      yield { filename, statusCode: 200, message: 'OK' }
    } catch (error) {
      const { status, message } = toProblem(error)
      yield { filename, ...errorBody(status, message) }
    }
  }
}

async function* asLines(first: object, rest: AsyncIterable<object>): AsyncIterable<string> {
  yield `${JSON.stringify(first)}\n`
  try {
    for await (const result of rest) yield `${JSON.stringify(result)}\n`
  } catch (error) {
    const { status, message } = toProblem(error)
    yield `${JSON.stringify(errorBody(status, message))}\n`
  }
}
