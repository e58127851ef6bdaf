import type { IncomingMessage } from 'node:http'
import { problems } from '../http/problems.ts'
import { decodeUtf8, parseJson } from '../http/text.ts'
import { readWholeBody } from './request-body.ts'

const mostNames = 10_000
/** In bytes. */
const longestNames = 4 * 1024 ** 2

/**
 * The names in the body of `request`, a JSON array of strings. It does not check whether the names are allowed.
 *
 * @throws HttpProblem 400 for any other body, 413 for one that is too large or has too many names
 */
export async function readNames(request: IncomingMessage): Promise<readonly string[]> {
  const body = await readWholeBody(request, longestNames)
  if (body === undefined) throw problems.bodyTooLarge(longestNames)
  const data = parseJson(decodeUtf8(body))
  // Checked before the items: each wrong item costs memory.
  if (Array.isArray(data) && data.length > mostNames) throw problems.tooManyNames(mostNames)
  if (!isNames(data)) {
    throw problems.invalidField('body', 'it must be a JSON array of names such as ["a.txt"]')
  }
  return data
}

function isNames(data: unknown): data is readonly string[] {
  return Array.isArray(data) && data.every((name) => typeof name === 'string')
}

/** In bytes: a name has at most 255, of which JSON may write each as six, and a version 200. */
const longestObject = 4096

/** What a member of an object must be, and the words for it. */
interface MemberKind {
  readonly is: (value: unknown) => boolean
  readonly words: string
}

const kinds = {
  name: { is: isText, words: 'it must be a name' },
  newName: { is: isText, words: 'it must be the new name' },
  version: { is: isText, words: 'it must be a version' },
  flag: { is: (value) => typeof value === 'boolean', words: 'it must be true or false' },
} as const satisfies Readonly<Record<string, MemberKind>>

function isText(value: unknown): boolean {
  return typeof value === 'string'
}

/** The kinds of all members that an object may have. */
type Shape = Readonly<Record<string, keyof typeof kinds>>

/** An object of a shape; each member may be missing. */
type Shaped<Members extends Shape> = {
  readonly [Member in keyof Members]?: Members[Member] extends 'flag' ? boolean : string
}

/** What a body must be. */
interface ObjectBody<Members extends Shape> {
  readonly shape: Members
  /** A whole body, for the message. */
  readonly example: string
  /** Whether an empty body stands for an empty object. Default: no. */
  readonly mayBeEmpty?: boolean
}

/**
 * The JSON object in the body of `request`. It has no members but those of the shape.
 *
 * @throws HttpProblem 400 for any other body
 */
export async function readObject<Members extends Shape>(
  request: IncomingMessage,
  { shape, example, mayBeEmpty = false }: ObjectBody<Members>,
): Promise<Shaped<Members>> {
  const body = await readWholeBody(request, longestObject)
  if (body === undefined) {
    throw problems.invalidField('body', `it is longer than ${longestObject} bytes`)
  }
  const data = mayBeEmpty && body.length === 0 ? {} : parseJson(decodeUtf8(body))
  const isObject = typeof data === 'object' && data !== null && !Array.isArray(data)
  if (!isObject || Object.keys(data).some((member) => !Object.hasOwn(shape, member))) {
    throw problems.invalidField('body', `it must be JSON such as ${example}`)
  }
  for (const [member, value] of Object.entries(data)) {
    const { is, words } = kinds[shape[member] ?? 'name']
    if (!is(value)) throw problems.invalidField(member, words)
  }
  return data
}
