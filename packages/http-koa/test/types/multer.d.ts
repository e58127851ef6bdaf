// The subset of multer 2.4 that the tests use with Express; see src/types/multer.d.ts.
declare module 'multer' {
  import type { RequestHandler } from 'express'
  import type { MulterOptions } from '@koa/multer'

  export default function multer(options: MulterOptions): {
    single(field: string): RequestHandler
    array(field: string, maxCount?: number): RequestHandler
  }
}
