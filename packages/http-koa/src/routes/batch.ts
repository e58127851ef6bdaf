import type { RouterMiddleware } from '@koa/router'
import { createKeyedLock, type CustomerFiles, type UploadOptions } from '@holdfast/core'
import { answerFileLines, type FileOutcome, type FileReports } from '../answer/file-lines.ts'
import { noRecorder, type AuditRecorder } from '../audit/audit-recorder.ts'
import type { HoldfastState } from '../exchange/holdfast-state.ts'
import { releaseChunks } from '../body/release-chunks.ts'
import { consoleLog, type HttpLog } from '../errors/log.ts'
import { problems } from '../errors/problem.ts'
import { orderedConcurrentMap, type StartedWork } from './ordered-concurrent-map.ts'
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
  log: HttpLog = consoleLog,
  recorder: AuditRecorder = noRecorder,
): RouterMiddleware<HoldfastState> {
  const reporting = { event: 'upload', log, recorder, refuseNone: problems.noFile } as const
  return (ctx) =>
    answerFileLines(ctx, reporting, (reports) => {
      const createOnly = isCreateOnly(ctx.req.headers)
      const options = { createOnly, ...releaseChunks(ctx.req) }
      const store = storing(filesOf(ctx.state), options, reports)
      return orderedConcurrentMap(receiveBatch(ctx.req), filesAtOnce, store)
    })
}

/** How many files of a batch are stored at a time: so many syncs are shared. Only one of them is being received. */
const filesAtOnce = 8

/** Begins to store a file. Files of one name are stored one after the other: the last one stays. */
function storing(
  files: CustomerFiles,
  options: UploadOptions,
  { explain, record }: FileReports,
): (file: BatchFile) => StartedWork<FileOutcome> {
  const lock = createKeyedLock()
  const upload: CustomerFiles['upload'] = async (name, ...rest) => {
    const unlock = await lock(name)
    return files.upload(name, ...rest).finally(unlock)
  }
  const storeAndRecord = async (file: BatchFile): Promise<FileOutcome> => {
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
  explain: FileReports['explain'],
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
