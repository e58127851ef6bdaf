import { HttpProblem } from '@holdfast/resumable'
import { problems } from './problem.ts'

/** Limits of multer that are not about how much there is of something. */
const shapes: readonly string[] = [
  'LIMIT_UNEXPECTED_FILE',
  'LIMIT_FIELD_NESTING',
  'LIMIT_FIELD_ARRAY_INDEX',
]

/** What busboy, which is behind multer, says in plain errors of a body that is no form. */
const malformed =
  /^(?:Malformed (?:part header|content type|urlencoded form)|Multipart: Boundary not found|Missing Content-Type|Unsupported content type: .*)$/s

/**
 * The answer to what multer refuses, which is the client's mistake: 413 for too much of something, or else 400. `undefined` for all
 * other errors. It looks at names and words, since an application has a multer of its own.
 */
export function multerProblem(error: unknown): HttpProblem | undefined {
  if (!(error instanceof Error)) return undefined
  if (error.message === 'Unexpected end of form') return problems.truncatedBody()
  if (malformed.test(error.message)) return problems.malformedMultipart()
  if (error.name !== 'MulterError' || !('code' in error)) return undefined
  const code = String(error.code)
  const status = code.startsWith('LIMIT_') && !shapes.includes(code) ? 413 : 400
  return new HttpProblem(code.toLowerCase().replaceAll('_', '-'), status, error.message)
}
