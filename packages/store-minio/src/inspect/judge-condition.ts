import { finding, type Finding } from '@holdfast/core'
import { failureOf } from '../errors/s3-errors.ts'

/**
 * Whether a server keeps what is there from being replaced: `write` asks for that by `If-None-Match: *`, and must fail
 * for that reason.
 */
export async function judgeCondition(check: string, write: () => Promise<void>): Promise<Finding> {
  const failure = await write().then(
    () => undefined,
    (error: unknown) => ({ error }),
  )
  const remedy =
    'Use a server that honours If-None-Match on PutObject and CompleteMultipartUpload, as MinIO does.'
  if (!failure) {
    const message = 'the server ignores If-None-Match; create-only uploads would replace files'
    return finding('problem', check, message, remedy)
  }
  const { status } = failureOf(failure.error)
  if (status === 412 || status === 409) return finding('ok', check, 'keeps the file that is there')
  if (status !== 501 && status !== 400) throw failure.error
  const message = `the server does not take If-None-Match (${status}); create-only uploads fail`
  return finding('problem', check, message, remedy)
}
