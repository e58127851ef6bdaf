import { concernsAllFiles } from '../errors/concerns-all-files.ts'
import { requireIterable } from '../options/require.ts'
import type { Requests } from '../requests/requests.ts'
import type { Patience } from '../requests/with-retries.ts'
import { upload } from '../upload/upload.ts'
import { readSmallFile, type UnreadFile } from './read-small-file.ts'
import type { SmallFile } from './form-of.ts'
import { uploadForm } from './upload-form.ts'
import type { FileToUpload, FileUploaded, UploadManyOptions } from './upload-many-options.ts'

/** What a form has in memory, and what is sent again where the line breaks. */
const formLimits = {
  bytes: 4 * 1024 ** 2,
  files: 1000,
  /** The server takes so many text fields in a form. */
  digests: 100,
}

/** Uploads small files many in a request, others each in its own, in their order. */
export async function* uploadMany(
  requests: Requests,
  patience: Patience,
  files: Iterable<FileToUpload> | AsyncIterable<FileToUpload>,
  options: UploadManyOptions,
): AsyncGenerator<FileUploaded, void> {
  requireIterable('The files', files)
  let form: (SmallFile | UnreadFile)[] = []
  const names = new Set<string>()
  const left = { ...formLimits }
  const send = async function* () {
    const sent = form
    form = []
    names.clear()
    Object.assign(left, formLimits)
    yield* uploadEntries(requests, patience, sent, options)
  }
  for await (const file of files) {
    options.signal?.throwIfAborted()
    const entry = await readSmallFile(file)
    if (entry === undefined) {
      yield* send()
      yield await uploadAlone(requests, patience, file, options)
      continue
    }
    const [bytes, digests] = 'bytes' in entry ? [entry.bytes.length, entry.sha256 ? 1 : 0] : [0, 0]
    const isFull = left.bytes < bytes || left.digests < digests || left.files < 1
    // In one form, the first of two that is sent again would replace the second.
    if (isFull || names.has(file.name)) yield* send()
    names.add(file.name)
    left.bytes -= bytes
    left.digests -= digests
    left.files--
    form.push(entry)
  }
  yield* send()
}

async function* uploadEntries(
  requests: Requests,
  patience: Patience,
  entries: readonly (SmallFile | UnreadFile)[],
  options: UploadManyOptions,
): AsyncGenerator<FileUploaded, void> {
  const files = entries.filter((entry) => 'bytes' in entry)
  if (files.length === 0) return yield* entries.filter((entry) => 'error' in entry)
  const { results, failure } = await uploadForm(requests, patience, files, options)
  let asked = 0
  for (const entry of entries) {
    const result = 'error' in entry ? entry : results[asked++]
    if (result !== undefined) yield result
  }
  if (failure) throw failure.error
}

async function uploadAlone(
  requests: Requests,
  patience: Patience,
  { name, body, sha256 }: FileToUpload,
  options: UploadManyOptions,
): Promise<FileUploaded> {
  try {
    const uploaded = await upload(requests, patience, name, body, { ...options, sha256 })
    return { name, error: undefined, ...uploaded }
  } catch (error) {
    if (options.signal?.aborted || !(error instanceof Error) || concernsAllFiles(error)) throw error
    return { name, error }
  }
}
