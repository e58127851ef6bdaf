import { createServer } from 'node:http'
import { createFileService, type BlobStore, type CustomerFiles } from '@holdfast/core'
import type { MulterOptions } from '@koa/multer'
import express from 'express'
import multer from 'multer'
import { createMulterStorage } from '../../src/uploads/multer-storage.ts'
import type { StagedUpload } from '../../src/uploads/upload.ts'
import { listen, type Listening } from './listening.ts'

export interface MulterApp extends Listening {
  readonly files: CustomerFiles
  /** What the handler behind multer has been given so far. */
  readonly staged: StagedUpload[]
  /** What multer refused forms with. */
  readonly errors: Error[]
}

export interface MulterAppOptions {
  readonly store: BlobStore
  readonly maxFiles?: number
  readonly fileSize?: number
  /** What the handler does with its files. Default: publish them all. */
  readonly handle?: (staged: readonly StagedUpload[]) => Promise<unknown>
  /** What multer is given beside. Default: nothing. */
  readonly options?: Partial<MulterOptions>
  /** What it takes to know the customer. Default: nothing. */
  readonly lookUp?: () => Promise<unknown>
}

export const publishAll = (staged: readonly StagedUpload[]) =>
  Promise.all(staged.map((each) => each.publish()))

/** Somebody's Express application that keeps the files of its forms in holdfast. */
export async function runExpressApp({
  store,
  maxFiles = 10,
  fileSize = Infinity,
  handle = publishAll,
  lookUp = async () => {},
  options = {},
}: MulterAppOptions): Promise<MulterApp> {
  const files = createFileService({ store }).filesOf({ name: 'demo' })
  const staged: StagedUpload[] = []
  const errors: Error[] = []
  const filesOf = async () => {
    await lookUp()
    return files
  }
  const upload = multer({
    storage: createMulterStorage({ filesOf }),
    limits: { fileSize },
    ...options,
  })
  const app = express()
  app.post('/attachments', upload.array('file', maxFiles), async (request, response) => {
    const uploads = (request as unknown as { readonly files: readonly StagedUpload[] }).files
    staged.push(...uploads)
    await handle(uploads)
    response.send('thanks')
  })
  app.get('/other', (_request, response) => void response.send('other'))
  const answerError: express.ErrorRequestHandler = (error: Error, _request, response, _next) => {
    errors.push(error)
    response.status(422).send(error.message)
  }
  app.use(answerError)
  return { ...(await listen(createServer(app))), files, staged, errors }
}
