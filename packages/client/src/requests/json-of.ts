import type { TransportResponse } from '../transport/transport.ts'
import { notOwn } from './not-own.ts'
import { textOf } from './requests.ts'
import type { Shape } from './shapes.ts'

/**
 * The JSON of a response.
 *
 * @throws HoldfastError, `unknown`, if it is none, or `isRight` says that it is not what was asked for
 */
export async function jsonOf<T>(response: TransportResponse, isRight: Shape): Promise<T> {
  const text = await textOf(response)
  const value = parsed(text)
  if (!isRight(value)) throw notOwn(response, text)
  return value as T
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // A proxy answers in words of its own.
    return undefined
  }
}
