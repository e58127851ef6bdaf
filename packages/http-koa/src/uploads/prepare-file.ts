import { createHash } from 'node:crypto'
import type { CustomerFiles, ExpectedDigest, UploadOptions } from '@holdfast/core'
import { problems } from '../http/problems.ts'
import type { UploadBytes } from '../server/request-body.ts'
import { prepareUpload, type Upload } from './upload.ts'

/** A file of a form, however the form is read. */
export interface FormFile {
  /** What the client calls it; `undefined` where the part does not say so in a way that can be read. */
  readonly filename: string | undefined
  /** Its bytes, whole or as they arrive; those throw when the form breaks off. */
  readonly content: UploadBytes
  /**
   * What its text fields `sha256` ask for; called before the content is read.
   *
   * @throws HttpProblem 400 where they are known by then, and wrong
   */
  readonly digest?: () => ExpectedDigest | undefined
}

/**
 * The upload of a file of a form, under the name that the form gives it.
 *
 * @param onName called with what the client calls the file, and then with its name, unless that is refused
 * @throws HttpProblem 400 for a name that cannot be read, and what `digest` throws
 */
export function prepareFile(
  files: Pick<CustomerFiles, 'upload'>,
  file: FormFile,
  options: UploadOptions,
  onName: (name: string) => void,
): Upload {
  if (file.filename !== undefined) onName(file.filename)
  const name = partFileName(file.filename)
  onName(name)
  return prepareNamedFile(files, name, file, options)
}

/** The same under another name than the form gives it. */
export function prepareNamedFile(
  files: Pick<CustomerFiles, 'upload'>,
  name: string,
  { content, digest }: Omit<FormFile, 'filename'>,
  options: UploadOptions,
): Upload {
  const expected = digest?.()
  return prepareUpload(files, name, content, { ...options, ...(expected && { digest: expected }) })
}

/** A SHA-256 digest, which is asked for after the last byte. */
export function sha256(expected: () => string | undefined): ExpectedDigest {
  return { hash: createHash('sha256'), expected }
}

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

/**
 * The digest in the text fields `sha256` of a form, in lower case; `undefined` without any.
 *
 * @throws HttpProblem 400 when there are several, or one that is no SHA-256 digest in hexadecimal
 */
export function expectedSha256([sha256, ...more]: readonly string[]): string | undefined {
  if (sha256 === undefined) return undefined
  if (more.length > 0 || !/^[0-9a-f]{64}$/i.test(sha256)) {
    throw problems.invalidField('sha256', 'it must be 64 hexadecimal digits, once')
  }
  return sha256.toLowerCase()
}
