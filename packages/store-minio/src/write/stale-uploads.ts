import {
  AbortMultipartUploadCommand,
  ListPartsCommand,
  type ListPartsCommandOutput,
  type S3Client,
} from '@aws-sdk/client-s3'
import { isAnswer } from '../http/s3-errors.ts'
import { keyDecoder, type ObjectKeys } from '../keys/object-keys.ts'
import { listUploads } from '../list/list-objects.ts'

export interface Sweep {
  readonly s3: S3Client
  readonly bucket: string
  readonly keys: ObjectKeys
  /** The ids of this process's uploads. */
  readonly underWay: ReadonlySet<string>
  /** Milliseconds without a new part after which an upload counts as abandoned. */
  readonly staleAfterMs: number
}

interface FoundUpload {
  readonly key: string
  readonly id: string
  readonly initiated: number
}

/**
 * Aborts the multipart uploads of this service that a crash has left; resolves with their number. It spares uploads of this process,
 * uploads that got a part recently, and uploads to keys that holdfast does not use.
 */
export async function abortStaleUploads(sweep: Sweep): Promise<number> {
  const { s3, bucket } = sweep
  let aborted = 0
  for await (const { key, id, initiated } of findUploads(sweep)) {
    const isOurs = sweep.keys.isKey(key)
    if (!isOurs || sweep.underWay.has(id) || isRecent(initiated, sweep)) continue
    try {
      if (isRecent(await lastPartAt(sweep, key, id), sweep)) continue
      const command = new AbortMultipartUploadCommand({ Bucket: bucket, Key: key, UploadId: id })
      await s3.send(command)
      aborted++
    } catch (error) {
      // Its owner, or another server's sweep, has ended it.
      if (!isAnswer(error, 'NoSuchUpload')) throw error
    }
  }
  return aborted
}

function isRecent(time: number, { staleAfterMs }: Sweep): boolean {
  return Date.now() - time < staleAfterMs
}

async function* findUploads({ s3, bucket }: Sweep): AsyncGenerator<FoundUpload> {
  let marker: { KeyMarker?: string; UploadIdMarker?: string } = {}
  for (;;) {
    // Without a prefix: MinIO takes one for a whole key.
    const page = await listUploads(s3, { Bucket: bucket, EncodingType: 'url', ...marker })
    const decode = keyDecoder(page.EncodingType)
    for (const { Key, UploadId: id, Initiated: initiated } of page.Uploads ?? []) {
      if (Key === undefined || id === undefined || initiated === undefined) continue
      yield { key: decode(Key), id, initiated: initiated.getTime() }
    }
    const { NextKeyMarker, NextUploadIdMarker: id } = page
    const key = NextKeyMarker === undefined ? undefined : decode(NextKeyMarker)
    const isSame = key === marker.KeyMarker && id === marker.UploadIdMarker
    if (page.IsTruncated !== true || key === undefined || isSame) return
    marker = { KeyMarker: key, ...(id !== undefined && { UploadIdMarker: id }) }
  }
}

/** When the newest part arrived, in milliseconds since 1970; 0 without parts. */
async function lastPartAt({ s3, bucket }: Sweep, key: string, id: string): Promise<number> {
  let newest = 0
  let marker: string | undefined
  do {
    const page: ListPartsCommandOutput = await s3.send(
      new ListPartsCommand({
        Bucket: bucket,
        Key: key,
        UploadId: id,
        ...(marker !== undefined && { PartNumberMarker: marker }),
      }),
    )
    const times = (page.Parts ?? []).map(({ LastModified: at }) => at?.getTime() ?? 0)
    newest = Math.max(newest, ...times)
    marker = page.IsTruncated === true ? page.NextPartNumberMarker : undefined
  } while (marker !== undefined)
  return newest
}
