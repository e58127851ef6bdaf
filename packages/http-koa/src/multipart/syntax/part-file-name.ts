import { problems } from '../../errors/problem.ts'

const replacementCharacter = '\ufffd'

/**
 * The name that a part's `filename` means, `undefined` where that cannot be read: what follows the last slash, as browsers and multer have it; a backslash
 * is an ordinary character.
 *
 * @throws HttpProblem 400 `Malformed multipart body` for what cannot be read; 400 `Invalid filename` when the bytes were not UTF-8, or control characters. The parser shows that only by a
 *   replacement character, so a name that really contains one is refused, too, rather than that two names become one;
 *   `PUT` takes it.
 */
export function partFileName(filename: string | undefined): string {
  if (filename === undefined) throw problems.malformedMultipart()
  const name = filename.slice(filename.lastIndexOf('/') + 1)
  if (name.includes(replacementCharacter)) {
    throw problems.invalidFilename('it is not valid UTF-8, or contains a control character')
  }
  return name
}
