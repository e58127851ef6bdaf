import { createHash } from 'node:crypto'
import type { CustomerFiles, ExpectedDigest, UploadOptions } from '@holdfast/core'
import { prepareUpload, type Upload, type UploadBytes } from '../body/stage-upload.ts'
import { partFileName } from './syntax/part-file-name.ts'

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
