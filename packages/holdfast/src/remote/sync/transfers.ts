import { createHash } from 'node:crypto'
import { isHoldfastError, type Client, type FileDetails, type UploadedFile } from '@holdfast/client'
import { endsTransfers, isRefusedOnTheWay } from '../errors.ts'
import {
  type FoundFile,
  isMissing,
  withLocalFile,
  type LocalFile,
  type ReadFile,
} from '../local-files.ts'
import type { SyncPlan } from './sync-plan.ts'
import type { SyncRecord } from './sync-state.ts'

/** Larger files get requests of their own. */
export const smallSize = 256 * 1024

/** So many refusals in a row by something on the way end a run. */
const mostRefused = 20

/** The outcome of a file. */
export type SyncOutcome =
  | { readonly kind: 'moved'; readonly size: number; readonly record: SyncRecord | undefined }
  | { readonly kind: 'unchanged'; readonly record: SyncRecord }
  /** The file does not exist any more, or its outcome is unknown: it is neither counted nor recorded. */
  | { readonly kind: 'unrecorded' }
  | { readonly kind: 'failed'; readonly error: unknown }

/** Sends or compares single files, and batches of small ones. Rejects with errors that concern all files. */
export interface Transfers {
  sendBatch(
    files: readonly FoundFile[],
    onOutcome: (file: FoundFile, outcome: SyncOutcome) => void,
  ): Promise<void>
  send(file: FoundFile): Promise<SyncOutcome>
  /** Compares the content with that of a file of the same size on the server, and sends it if it differs. */
  compare(file: FoundFile, there: FileDetails, known: readonly SyncRecord[]): Promise<SyncOutcome>
}

export function createTransfers(plan: SyncPlan): Transfers {
  const { client, directory, signal, isDryRun } = plan
  /** How many files in a row something on the way has refused. */
  let refusedInRow = 0
  const withFile = <T>({ path }: FoundFile, use: (file: LocalFile) => Promise<T>) =>
    withUnchanged(directory, path, use)

  return {
    async sendBatch(files, onOutcome) {
      const open = new Set(files)
      const end = (file: FoundFile, outcome: SyncOutcome) => {
        open.delete(file)
        onOutcome(file, outcome)
      }
      try {
        await sendTogether(files, end)
        refusedInRow = 0
      } catch (error) {
        if (!isRefusedOnTheWay(error)) throw error
        // It may be for one of them.
        for (const file of open) onOutcome(file, await send(file))
      }
    },
    send,
    async compare(file, there, known) {
      return attempt(async () => {
        const record = await compareContents(plan, file, there, known)
        return record ? { kind: 'unchanged', record } : send(file)
      })
    },
  }

  async function sendTogether(
    files: readonly FoundFile[],
    onOutcome: (file: FoundFile, outcome: SyncOutcome) => void,
  ): Promise<void> {
    const read: { readonly file: FoundFile; readonly content: ReadFile }[] = []
    async function* contents() {
      for (const file of files) {
        try {
          const { bytes, ...content } = await withFile(file, (opened) => opened.readWhole())
          read.push({ file, content })
          yield { name: file.name, body: bytes }
        } catch (error) {
          onOutcome(file, outcomeOf(error))
        }
      }
    }
    let asked = 0
    for await (const { name, error, etag } of client.uploadMany(contents(), { signal })) {
      let one = read[asked++]
      // A file whose outcome is unknown has no result.
      while (one && one.file.name !== name) one = read[asked++]
      if (one === undefined) continue
      const { file, content } = one
      const record = recordOf(file, content, etag)
      onOutcome(
        file,
        error ? { kind: 'failed', error } : { kind: 'moved', size: content.size, record },
      )
    }
  }

  async function attempt(work: () => Promise<SyncOutcome>): Promise<SyncOutcome> {
    try {
      const outcome = await work()
      if (outcome.kind !== 'failed') refusedInRow = 0
      return outcome
    } catch (error) {
      return outcomeOf(error)
    }
  }

  /** @throws errors that concern all files */
  function outcomeOf(error: unknown): SyncOutcome {
    signal.throwIfAborted()
    if (isMissing(error)) return { kind: 'unrecorded' }
    if (!(error instanceof Error) || endsTransfers(error)) throw error
    // It refuses all of them.
    if (isRefusedOnTheWay(error) && ++refusedInRow === mostRefused) throw error
    return { kind: 'failed', error }
  }

  async function send(file: FoundFile): Promise<SyncOutcome> {
    if (isDryRun) return { kind: 'moved', size: file.now?.size ?? 0, record: undefined }
    return attempt(() => withFile(file, (opened) => upload(file, opened)))
  }

  async function upload(file: FoundFile, opened: LocalFile): Promise<SyncOutcome> {
    const { name, path } = file
    const content = await opened.readDigest(signal)
    const { uploads } = plan.state
    const uploadUrl = await uploads.get(name, content.sha256)
    let isResumed = uploadUrl !== undefined
    let kept = Promise.resolve()
    const keep = (url: string) => {
      kept = uploads.set(name, content.sha256, url).catch(() => {
        // The next run starts again.
      })
    }
    const uploading = client.upload(name, opened.bodyOf(content), {
      sha256: content.sha256,
      uploadUrl,
      onUploadUrl: keep,
      onProgress({ sent }) {
        if (isResumed && sent > 0) plan.events.note(`${path}: continues after ${sent} bytes`)
        isResumed = false
      },
      signal,
    })
    let uploaded: UploadedFile
    try {
      uploaded = await uploading
    } finally {
      await kept
    }
    await uploads.delete(name, content.sha256)
    return { kind: 'moved', size: content.size, record: recordOf(file, content, uploaded.etag) }
  }
}

/** The record of a file whose content is the same here and on the server; `undefined` if it differs. Reads only what no record says. */
export async function compareContents(
  { client, directory, signal }: SyncPlan,
  file: FoundFile,
  there: FileDetails,
  known: readonly SyncRecord[],
): Promise<SyncRecord | undefined> {
  const content = await withUnchanged(directory, file.path, (opened) => opened.readDigest(signal))
  const proven = known.find(({ etag, size }) => etag === there.etag && size === there.size)
  const digest = proven?.sha256 ?? (await digestOnServer(client, there, signal))
  return digest === content.sha256 ? recordOf(file, content, there.etag) : undefined
}

/** The digest of a file on the server; `undefined` if it has been replaced since. */
export async function digestOnServer(
  client: Client,
  details: FileDetails,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    return await hashContent(client, details, signal)
  } catch (error) {
    if (isHoldfastError(error, 'precondition-failed', 'not-found')) return undefined
    throw error
  }
}

/** The SHA-256 of the content that these details are about, in hexadecimal. Fails if the file is replaced meanwhile. */
export async function hashContent(
  client: Client,
  { name, etag }: FileDetails,
  signal: AbortSignal,
): Promise<string> {
  const { body } = await client.download(name, { ifMatch: etag, reuseMemory: true, signal })
  const hash = createHash('sha256')
  for await (const chunk of body) hash.update(chunk)
  return hash.digest('hex')
}

/** `undefined` if the server has not given the new entity tag: a later request may get that of another client's file. */
function recordOf(
  { name, path }: FoundFile,
  { size, version, isFresh, sha256 }: ReadFile,
  etag: string | undefined,
): SyncRecord | undefined {
  if (etag === undefined) return undefined
  return { name, path, size, version: isFresh ? '' : version, sha256, etag }
}

/** Uses a file below `root`; once more, if it changed meanwhile. */
export async function withUnchanged<T>(
  root: string,
  path: string,
  use: (file: LocalFile) => Promise<T>,
): Promise<T> {
  try {
    return await withLocalFile(root, path, use)
  } catch (error) {
    if (!isHoldfastError(error, 'changed-meanwhile', 'digest-mismatch')) throw error
    return withLocalFile(root, path, use)
  }
}
