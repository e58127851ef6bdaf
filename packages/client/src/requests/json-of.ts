import type { TransportResponse } from '../transport/transport.ts'
import { notOwn } from './own-answers.ts'
import { textOf } from './requests.ts'

/**
 * The JSON of a response.
 *
 * @throws HoldfastError, `unknown`, if it is none, or `isRight` says that it is not what was asked for
 */
export async function jsonOf<T>(
  response: TransportResponse,
  isRight: (value: unknown) => boolean,
): Promise<T> {
  const text = await textOf(response)
  const value = parsed(text)
  if (!isRight(value)) throw notOwn(response, text)
  return value as T
}

/** Whether a value is an object with these members. */
export function hasMembers(value: unknown, ...names: readonly string[]): boolean {
  return typeof value === 'object' && value !== null && names.every((name) => name in value)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // A proxy answers in words of its own.
    return undefined
  }
}
