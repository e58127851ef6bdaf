import type { IncomingMessage } from 'node:http'
import { readWholeBody } from '../body/read-whole-body.ts'
import { problems } from '../errors/problem.ts'
import { decodeUtf8 } from '../http/utf8.ts'
import { validate } from './names-validator.ts'

const mostNames = 10_000
/** Bytes. */
const longestBody = 4 * 1024 ** 2

/**
 * The names in the body of `request`, a JSON array of strings. What a name may be is not judged here.
 *
 * @throws HttpProblem 400 for any other body, 413 for one that is too large or has too many names
 */
export async function readNames(request: IncomingMessage): Promise<readonly string[]> {
  const body = await readWholeBody(request, longestBody)
  if (body === undefined) throw problems.bodyTooLarge(longestBody)
  const data = parse(decodeUtf8(body))
  // Before the items are judged: each wrong one costs memory.
  if (Array.isArray(data) && data.length > mostNames) throw problems.tooManyNames(mostNames)
  if (!isNames(data)) {
    // The errors of the last call hold the data.
    validate([])
    throw problems.invalidField('body', 'it must be a JSON array of names such as ["a.txt"]')
  }
  return data
}

/** `undefined` for what is no JSON. */
function parse(text = '?'): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isNames(data: unknown): data is readonly string[] {
  return validate(data)
}
