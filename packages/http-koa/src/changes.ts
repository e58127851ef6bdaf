import type { RouterMiddleware } from '@koa/router'
import { createKeyedLock, type CustomerFiles, nameProblem } from '@holdfast/core'
import { noRecorder, type AuditRecorder } from './guards/audit.ts'
import { filesOf } from './guards/enter.ts'
import { consoleLog, type HttpLog } from './guards/errors.ts'
import { refuseConditions, etagOf } from './http/conditional.ts'
import { problems } from './http/problems.ts'
import {
  answerFileLines,
  orderedConcurrentMap,
  type FileOutcome,
  type FileReports,
  type StartedWork,
} from './lists/file-lines.ts'
import { isClosed } from './server/connection.ts'
import { fileNameInPath, exchangeIn, type HoldfastState } from './server/exchange.ts'
import { readNames, readObject } from './server/request-body.ts'

/** DELETE /delete/:filename: deletes a file. */
export const remove: RouterMiddleware<HoldfastState> = async (ctx) => {
  const name = fileNameInPath(ctx)
  refuseConditions(ctx.req.headers)
  await (exchangeIn(ctx).deleting ?? filesOf(ctx.state).delete(name))
  ctx.type = 'text/plain; charset=utf-8'
  ctx.body = 'OK'
}

/**
 * POST /delete/batch: deletes each file that a JSON array names, and answers one line of JSON per name, in order, as soon as
 * that file is deleted or its deletion is refused. After the client has left, no further deletion begins.
 */
export function createDeleteBatch(
  log: HttpLog = consoleLog,
  recorder: AuditRecorder = noRecorder,
): RouterMiddleware<HoldfastState> {
  return (ctx) =>
    answerFileLines(ctx, { event: 'delete', log, recorder }, async (reports) => {
      refuseConditions(ctx.req.headers)
      const names = await readNames(ctx.req)
      const untilLeft = async function* () {
        for (const [index, name] of names.entries()) {
          // Names without a file need no I/O. This gives way to other requests, and to the end of the connection.
          if (index % deletionsAtOnce === 0) await new Promise((resolve) => setImmediate(resolve))
          if (isClosed(ctx.res)) return
          yield name
        }
      }
      return orderedConcurrentMap(
        untilLeft(),
        deletionsAtOnce,
        deleting(filesOf(ctx.state), reports),
      )
    })
}

/** How many files of a batch are deleted at a time, so that they share syncs. */
const deletionsAtOnce = 8

/** Makes a function that begins to delete a file. Equal names are deleted one after the other: the second one finds no file. */
function deleting(
  files: CustomerFiles,
  { explain, record }: FileReports,
): (name: string) => StartedWork<FileOutcome> {
  const lock = createKeyedLock()
  const deleteOne = async (file: string) => {
    const unlock = await lock(file)
    try {
      await files.delete(file)
      return { line: { filename: file, statusCode: 200, message: 'OK' } }
    } catch (error) {
      return { line: { filename: file, ...explain(error) }, ending: { error } }
    } finally {
      unlock()
    }
  }
  const deleteAndRecord = async (file: string): Promise<FileOutcome> => {
    try {
      const { line, ending } = await deleteOne(file)
      await record('delete', { file }, ending)
      return { line }
    } catch (error) {
      return { failure: { error } }
    }
  }
  return (name) => ({ taken: Promise.resolve(), result: deleteAndRecord(name) })
}

/** POST /rename/:filename: gives a file another name. */
export const rename: RouterMiddleware<HoldfastState> = async (ctx) => {
  const name = fileNameInPath(ctx)
  refuseConditions(ctx.req.headers, 'renames')
  const files = filesOf(ctx.state)
  if (files.rename === undefined) throw problems.notFound()
  const { to, ...options } = await readObject(ctx.req, renameBody)
  if (to === undefined) throw problems.invalidField('to', 'it must be the new name')
  ctx.state.newName = to
  const problem = nameProblem(to)
  if (problem !== undefined) throw problems.invalidField('to', problem)
  const info = await files.rename(name, to, options)
  ctx.type = 'text/plain; charset=utf-8'
  ctx.set('ETag', etagOf(info))
  ctx.body = 'OK'
}

const renameBody = {
  shape: { to: 'newName', createOnly: 'flag' },
  example: '{"to":"b.txt","createOnly":true}',
} as const
