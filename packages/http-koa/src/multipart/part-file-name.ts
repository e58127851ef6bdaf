import { problems } from '../http/problem.ts'

const replacementCharacter = '\ufffd'

/**
 * The name that a part's `filename` means: what follows the last slash, as browsers and multer have it; a backslash
 * is an ordinary character.
 *
 * @throws HttpProblem 400 when the bytes were not UTF-8, or control characters. The parser shows that only by a
 *   replacement character, so a name that really contains one is refused, too, rather than that two names become one;
 *   `PUT` takes it.
 */
export function partFileName(filename: string): string {
  const name = filename.slice(filename.lastIndexOf('/') + 1)
  if (name.includes(replacementCharacter)) {
    throw problems.invalidFilename('it is not valid UTF-8, or contains a control character')
  }
  return name
}
