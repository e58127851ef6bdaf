import { createServer } from 'node:http'
import { createFileService } from '@holdfast/core'
import koaMulter from '@koa/multer'
import Koa from 'koa'
import { createMulterStorage } from '../../src/uploads/multer-storage.ts'
import type { StagedUpload } from '../../src/uploads/upload.ts'
import { publishAll, type MulterApp, type MulterAppOptions } from './express-app.ts'
import { listen } from './listening.ts'

/** Somebody's Koa application that keeps the files of its forms in holdfast. */
export async function runKoaMulterApp({
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
  const upload = koaMulter({
    storage: createMulterStorage({ filesOf }),
    limits: { fileSize },
    ...options,
  })
  const app = new Koa()
  app.silent = true
  app.use(async (ctx, next) => {
    try {
      await next()
    } catch (error) {
      errors.push(error as Error)
      ctx.status = 422
      ctx.body = String(error)
    }
  })
  app.use(upload.array('file', maxFiles))
  app.use(async (ctx) => {
    const uploads = (ctx.files ?? []) as readonly StagedUpload[]
    staged.push(...uploads)
    await handle(uploads)
    ctx.body = 'thanks'
  })
  return {
    ...(await listen(createServer((req, res) => void app.callback()(req, res)))),
    files,
    staged,
    errors,
  }
}
