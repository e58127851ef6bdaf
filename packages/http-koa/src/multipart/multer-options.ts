import type { IncomingMessage } from 'node:http'
import type { Writable } from 'node:stream'
import { problems } from '../errors/problem.ts'
import { patchBusboy, refuseNameless } from './busboy/patch-busboy.ts'
import type { FormDisposition } from './syntax/form-disposition.ts'
import { formLimits } from './syntax/form-limits.ts'
import { partFileName } from './syntax/part-file-name.ts'

/**
 * What an application gives to multer 2.4 or later beside its `storage`, so that multer reads forms as the routes do, and no
 * form can stop the process. By itself multer passes over files whose `Content-Disposition` it cannot read, and makes
 * arrays of any length of text fields such as `a[4294967294]`. With these options it passes on an `HttpProblem` of status
 * 400 for the former, and has limits for the latter; set your own in place of them.
 */
export const multerOptions = {
  defParamCharset: 'utf8',
  preservePath: true,
  limits: {
    fields: formLimits.fields,
    fieldSize: formLimits.fieldSize,
    /** Levels of brackets in the name of a text field. */
    fieldNestingDepth: 10,
    /** The highest number in brackets there. */
    fieldArrayIndexLimit: 100,
    parts: formLimits.parts,
  },
  streamHandler: feedMulter,
} as const

function feedMulter(request: IncomingMessage, parser: Writable): void {
  const fail = (error: Error) => void parser.destroy(error)
  patchBusboy(parser, {
    headersFor: (disposition, arrived) => ({ ...arrived, ...headersFor(disposition) }),
    onPart: (part) => refuseNameless(part, fail),
    fail,
  })
  request.pipe(parser)
}

/**
 * The headers by which busboy and multer come to the same reading.
 *
 * @throws HttpProblem 400 where there is none
 */
function headersFor(disposition: FormDisposition | undefined) {
  if (disposition === undefined) throw problems.malformedMultipart()
  const { name, filename } = disposition
  // Multer undoes these, as it does those of browsers.
  const escaped = name.replaceAll('\\', '\\\\').replaceAll(/["\r\n]/g, encodeURIComponent)
  const field = `form-data; name="${Buffer.from(escaped).toString('latin1')}"`
  if (filename === undefined) return { 'content-disposition': [field] }
  // The type makes it a file for busboy, and multer passes over it.
  if (filename === '') {
    return { 'content-disposition': [field], 'content-type': ['application/octet-stream'] }
  }
  const last = partFileName(filename)
  if (last === '') throw problems.invalidFilename('it is empty')
  const encoded = Buffer.from(last).toString('hex').replaceAll(/../g, '%$&')
  return { 'content-disposition': [`${field}; filename*=utf-8''${encoded}`] }
}
