import type { RouterMiddleware } from '@koa/router'
import { createKeyedLock, type CustomerFiles } from '@holdfast/core'
import { answerFileLines, type FileOutcome, type FileReports } from '../answer/file-lines.ts'
import { noRecorder, type AuditRecorder } from '../audit/audit-recorder.ts'
import { readNames } from '../deletions/read-names.ts'
import { consoleLog, type HttpLog } from '../errors/log.ts'
import { isClosed } from '../exchange/is-closed.ts'
import type { HoldfastState } from '../exchange/holdfast-state.ts'
import { refuseConditions } from '../http/change-conditions.ts'
import { filesOf } from '../middleware/authenticate.ts'
import { orderedConcurrentMap, type StartedWork } from './ordered-concurrent-map.ts'

/**
 * POST /delete/batch: deletes each file that a JSON array names, and answers one line of JSON per name, in order, as soon as
 * that file is gone or its deletion is refused. When the client leaves, no further deletion begins.
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
          // Names without a file need no I/O: other requests, and the end of the connection, must be noticed meanwhile.
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

/** How many files of a batch are deleted at a time: so many syncs are shared. */
const deletionsAtOnce = 8

/** Begins to delete a file. Equal names are deleted one after the other: the second one finds no file. */
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
