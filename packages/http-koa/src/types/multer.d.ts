// The subset of multer 2.4 and @koa/multer 4 that is used here and in the tests. The published types are outdated: they
// lack the options of multer 2.4, or bring Express along.
declare module '@koa/multer' {
  import type { IncomingMessage } from 'node:http'
  import type { Writable } from 'node:stream'
  import type { Context, Next } from 'koa'

  export interface MulterOptions {
    readonly storage: object
    readonly limits?: Readonly<
      Partial<
        Record<
          | 'fieldSize'
          | 'fields'
          | 'fieldNestingDepth'
          | 'fieldArrayIndexLimit'
          | 'parts'
          | 'fileSize',
          number
        >
      >
    >
    readonly fileFilter?: (
      request: IncomingMessage,
      part: { readonly fieldname: string; readonly originalname: string },
      callback: (error: unknown, accept?: boolean) => void,
    ) => void
    readonly preservePath?: boolean
    readonly defParamCharset?: string
    readonly streamHandler?: (request: IncomingMessage, parser: Writable) => void
  }

  type Middleware = (ctx: Context, next: Next) => Promise<unknown>

  export default function multer(options: MulterOptions): {
    any(): Middleware
    single(field: string): Middleware
    array(field: string, maxCount?: number): Middleware
  }
}
