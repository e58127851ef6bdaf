import { setTimeout as delay } from 'node:timers/promises'
import { DeleteObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import { failureOf } from '../http/s3-errors.ts'
import {
  patience,
  type ServerTrial,
  createTrialObjects,
  type TrialObjects,
} from './trial-objects.ts'

/** Milliseconds before each repetition of a failed trial. */
const pauses = [100, 1000]

/** Whether objects can be replaced under a condition. If not, logs the reason. Never throws. */
export async function canCompareAndSwap(trial: ServerTrial): Promise<boolean> {
  const problem = await tryRepeatedly(trial).catch(
    (error: unknown) => `could not be tested (${String(error)})`,
  )
  if (problem === undefined) return true
  trial.log.warn(
    `Uploads cannot be resumed: the S3 server ${problem}. holdfast doctor says what to do`,
  )
  return false
}

async function tryRepeatedly(trial: ServerTrial): Promise<string | undefined> {
  const signal = AbortSignal.timeout(patience)
  for (const pause of pauses) {
    try {
      return await tryOnce(trial, signal)
    } catch {
      await delay(pause, undefined, { signal })
    }
  }
  return tryOnce(trial, signal)
}

async function tryOnce(
  { client: { s3, changing }, bucket, prefix }: ServerTrial,
  signal: AbortSignal,
): Promise<string | undefined> {
  const trial = createTrialObjects(s3, bucket, prefix)
  const versions = new Set<string>()
  const made = (key: string, versionId: string | undefined) => {
    if (versionId !== undefined) versions.add(versionId)
    trial.made(key, versionId)
  }
  try {
    return await compareAndSwapProblem(changing, { bucket, key: trial.key, made }, { signal })
  } finally {
    if (versions.size > 0) await trial.remove()
  }
}

/** How many writes at once try to replace the same object, at the start of a store: few, so that it does not take long. */
const fewRivals = 4

interface CompareAndSwapTrial {
  readonly signal?: AbortSignal
  /** How many writes at once try to replace the same object. Default: 4. */
  readonly rivals?: number
}

/** How many races there may be if no write succeeds: one may have, but its answer was lost and its repetition refused. */
const races = 3

const wrongTag = '"00000000000000000000000000000000"'

/** The outcome of a write: its entity tag, or why there is none. */
type WriteOutcome =
  | { readonly what: 'done'; readonly etag: string }
  | { readonly what: 'failed' | 'refused' }

/**
 * Why this server cannot replace objects under the condition that they are unchanged (`If-Match` with PutObject), as the end of a sentence
 * about the server; `undefined` if it can. Tries it with an object that is no customer's, and removes that. Rejects with any other
 * failure.
 */
export async function compareAndSwapProblem(
  changing: S3Client,
  { bucket, key, made }: Pick<TrialObjects, 'bucket' | 'key' | 'made'>,
  { signal, rivals = fewRivals }: CompareAndSwapTrial = {},
): Promise<string | undefined> {
  const until = signal && { abortSignal: signal }
  const objectRef = { Bucket: bucket, Key: `${key}-swap` }
  const put = async (
    text: string,
    IfMatch?: string,
    Key = objectRef.Key,
  ): Promise<WriteOutcome> => {
    const body = { Body: text, ContentLength: text.length }
    const command = new PutObjectCommand({ Bucket: bucket, Key, ...body, IfMatch })
    try {
      const { ETag: etag = '', VersionId } = await changing.send(command, until)
      made(Key, VersionId)
      return { what: 'done', etag }
    } catch (error) {
      return { what: outcomeOf(error) }
    }
  }
  const winnersOfRace = async () => {
    const first = await put('1')
    const etag = first.what === 'done' ? first.etag : ''
    const texts = Array.from({ length: rivals }, (_, index) => `3${index}`)
    const outcomes = await Promise.all(texts.map((text) => put(text, etag)))
    return outcomes.filter(({ what }) => what === 'done').length
  }
  try {
    const first = await put('1')
    const wrong = await put('2', wrongTag)
    if (wrong.what === 'refused') return 'does not take If-Match'
    if (wrong.what === 'done') return 'ignores If-Match'
    let winners = 0
    for (let race = 0; race < races && winners === 0; race++) winners = await winnersOfRace()
    if (winners !== 1) return `lets ${winners} of ${rivals} writes with the same If-Match succeed`
    const etag = first.what === 'done' ? first.etag : wrongTag
    const missing = await put('4', etag, `${objectRef.Key}-missing`)
    return missing.what === 'done' ? 'ignores If-Match where there is no object' : undefined
  } finally {
    // The sweeps of trials remove what stays.
    const removing = changing.send(new DeleteObjectCommand(objectRef), until)
    await removing.then(
      ({ VersionId }) => made(objectRef.Key, VersionId),
      () => {},
    )
  }
}

function outcomeOf(error: unknown): 'failed' | 'refused' {
  const { status } = failureOf(error)
  if ([404, 409, 412].includes(status)) return 'failed'
  if ([400, 501].includes(status)) return 'refused'
  throw error
}
