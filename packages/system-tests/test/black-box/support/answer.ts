import { STATUS_CODES } from 'node:http'
import { expect } from 'chai'

/** A whole answer, from whichever client. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly bytes: Buffer
}

export async function toAnswer(response: Response): Promise<Answer> {
  const { status, headers } = response
  return { status, headers, bytes: Buffer.from(await response.arrayBuffer()) }
}

/** The one form that every error has: the status, the content type, and exactly three fields. */
export function expectError(answer: Answer, statusCode: number, message: string): void {
  const error = STATUS_CODES[statusCode]
  expect(JSON.parse(answer.bytes.toString() || '"no body"')).to.deep.equal({
    statusCode,
    error,
    message,
  })
  expect(answer.status).to.equal(statusCode)
  expect(answer.headers.get('content-type')).to.equal('application/json; charset=utf-8')
}

const shortage = [
  /other files and uploads use \d+ of \d+ bytes, and this file needs (\d+|more than the rest)/,
  /\d+ of \d+ files are stored or being stored/,
  /there are \d+ of \d+ unfinished uploads/,
]
const exceeded = new RegExp(`^Quota exceeded: (${shortage.map(({ source }) => source).join('|')})$`)

/** The answer to a customer who has used up a quota, with the numbers. */
export function expectExceeded(answer: Answer, message = messageOf(answer)): void {
  expect(message).to.match(exceeded)
  expectError(answer, 413, message)
}

/** Empty where the body is no error. */
function messageOf({ bytes }: Answer): string {
  try {
    return (JSON.parse(bytes.toString()) as { readonly message?: string }).message ?? ''
  } catch {
    return ''
  }
}

/** The answer to an upload or a deletion that is safe. */
export function expectOk(answer: Answer): void {
  expect(answer.bytes.toString()).to.equal('OK')
  expect(answer.status).to.equal(200)
  expect(answer.headers.get('content-type')).to.match(/^text\/plain\b/)
}
