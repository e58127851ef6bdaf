import { nameProblem } from '@holdfast/core'

/** One of the ways in which a name becomes a part of a key. */
export interface NameEncoding {
  /** The folder for names in this encoding, beside or instead of others; ends with a slash unless it is empty. */
  readonly folder: string
  /** Keeps the order of UTF-8 bytes, and the length. For beginnings of names, too. */
  readonly encode: (name: string) => string
  /** The name that is encoded as `text`; `undefined` if no name is. */
  readonly decode: (text: string) => string | undefined
}

/**
 * What servers refuse that keep objects as files (MinIO does): a name with a dot or two between backslashes or its ends,
 * spaces aside. It might be taken for a way out of the folder.
 */
const dotSegment = /(?:^|\\) *\.{1,2} *(?:\\|$)/

/** Whether the name `text`, or a beginning of one, can be a part of a key as it is. */
export function isPlain(text: string): boolean {
  return !dotSegment.test(text)
}

const plain: NameEncoding = {
  folder: '',
  encode: (name) => name,
  decode: (text) => (nameProblem(text) === undefined && isPlain(text) ? text : undefined),
}

/**
 * Moves each character from the space to the dot down by one, which leaves no dot. That is reversible and keeps the
 * order since names have no slash, which follows the dot, and no control character, where the space goes. The folder
 * has a control character for a name, so that no file can have the same.
 */
const shifted: NameEncoding = {
  folder: '\u0001/',
  encode: (name) => name.replace(/[\u0020-\u002e]/g, (character) => move(character, -1)),
  decode: (text) => {
    const name = text.replace(/[\u001f-\u002d]/g, (character) => move(character, 1))
    return nameProblem(name) === undefined && !isPlain(name) ? name : undefined
  },
}

function move(character: string, by: number): string {
  return String.fromCharCode(character.charCodeAt(0) + by)
}

/** Every name is in one of them: as it is, unless servers would refuse that. */
export const nameEncodings: readonly NameEncoding[] = [plain, shifted]

/** `name` as a part of a key. @throws TypeError for what cannot be a name */
export function encodeName(name: string): string {
  // The core has judged every name already; a caller without it must still not reach outside the prefix.
  const problem = nameProblem(name)
  if (problem !== undefined) throw new TypeError(`Not a name: ${problem}`)
  const encoding = isPlain(name) ? plain : shifted
  return encoding.folder + encoding.encode(name)
}
