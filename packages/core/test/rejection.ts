import { FileServiceError, type ErrorCode } from '../src/model/errors.ts'

/** What `promise` rejects with; throws if it resolves. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  let value: unknown
  try {
    value = await promise
  } catch (error) {
    return error
  }
  throw new Error('Resolved where it should have rejected', { cause: value })
}

/** The code of the FileServiceError that `promise` rejects with; throws if it does anything else. */
export async function refusal(promise: Promise<unknown>): Promise<ErrorCode> {
  return codeOf(await rejection(promise))
}

/** The code of the FileServiceError that `action` throws; throws if it does anything else. */
export function thrownCode(action: () => unknown): ErrorCode {
  try {
    action()
  } catch (error) {
    return codeOf(error)
  }
  throw new Error('Returned where it should have thrown')
}

function codeOf(error: unknown): ErrorCode {
  if (error instanceof FileServiceError) return error.code
  throw new Error('Failed with something else than a FileServiceError', { cause: error })
}
