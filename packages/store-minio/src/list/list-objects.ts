import {
  ListObjectsV2Command,
  type ListObjectsV2CommandOutput,
  type S3Client,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandInput,
  type ListMultipartUploadsCommandOutput,
  ListObjectVersionsCommand,
  type ListObjectVersionsCommandOutput,
  type ObjectVersion,
} from '@aws-sdk/client-s3'
import { FileServiceError } from '@holdfast/core'
import { translating, isAnswer } from '../http/s3-errors.ts'
import { keyDecoder, type ObjectRef } from '../keys/object-keys.ts'

/** What to list, in whole keys. */
export interface ListRequest {
  readonly s3: S3Client
  readonly bucket: string
  /** Lists keys that begin with it; what follows it up to a slash is one folder. */
  readonly prefix: string
  /** Only keys after this one. Default: from the first. */
  readonly after?: string
  /** Whether to list objects in folders below. Default: only the folders. */
  readonly isDeep?: boolean
  /** The most keys in one request. Default, and S3's limit: 1000. */
  readonly pageSize?: number
}

/** An object in a list. */
export interface ListedObject {
  /** The whole key. */
  readonly key: string
  readonly size: number
  /** In whole seconds, as HEAD and GET report it; lists have milliseconds. */
  readonly modifiedAt: Date
  /** In quotes. */
  readonly etag: string
}

/** The objects directly below a prefix, and the folders that hold others, by their whole keys. */
interface ListedPage {
  readonly objects: readonly ListedObject[]
  /** End with a slash. */
  readonly folders: readonly string[]
}

/** Lists page by page, in the order of the keys' UTF-8 bytes, as the reader requests more. */
export async function* listObjects(request: ListRequest): AsyncGenerator<ListedPage> {
  const { s3, bucket, prefix, after, isDeep = false, pageSize = 1000 } = request
  let continuation: string | undefined
  do {
    const page: ListObjectsV2CommandOutput = await translating(
      s3.send(
        new ListObjectsV2Command({
          Bucket: bucket,
          Prefix: prefix,
          ...(!isDeep && { Delimiter: '/' }),
          MaxKeys: pageSize,
          // Keys may have characters that XML cannot contain.
          EncodingType: 'url',
          ...(after !== undefined && { StartAfter: after }),
          ...(continuation !== undefined && { ContinuationToken: continuation }),
        }),
      ),
    )
    // The page of a proxy is no list; least of all an empty one.
    if (page.Name === undefined) throw unreadableList()
    const decode = keyDecoder(page.EncodingType)
    yield {
      objects: (page.Contents ?? []).map((object) => ({
        key: decode(object.Key ?? ''),
        size: object.Size ?? 0,
        modifiedAt: inSeconds(object.LastModified),
        etag: object.ETag ?? '',
      })),
      folders: (page.CommonPrefixes ?? []).map(({ Prefix = '' }) => decode(Prefix)),
    }
    continuation = page.IsTruncated === true ? page.NextContinuationToken : undefined
  } while (continuation !== undefined)
}

/** As HEAD and GET report times: without fractions of seconds. */
export function inSeconds(time: Date = new Date(0)): Date {
  return new Date(Math.floor(time.getTime() / 1000) * 1000)
}

/** For an answer that is no list. */
function unreadableList(): FileServiceError {
  return new FileServiceError('store-unavailable', "The store's answer is not a list")
}

/** A page of the unfinished multipart uploads; an empty one if the server says that there is no such upload. */
export async function listUploads(
  s3: S3Client,
  request: ListMultipartUploadsCommandInput,
): Promise<Partial<ListMultipartUploadsCommandOutput>> {
  try {
    return await s3.send(new ListMultipartUploadsCommand(request))
  } catch (error) {
    // Rclone's answer for an empty list.
    if (isAnswer(error, 'NoSuchUpload')) return {}
    throw error
  }
}

/** A version of an object, or a delete marker: what the bucket has instead of an object that was deleted. */
export interface ListedVersion {
  /** The whole key. */
  readonly key: string
  readonly version: string
  readonly isMarker: boolean
  /** Whether it is the newest of its key: the present object, or the marker of a deleted one. */
  readonly isLatest: boolean
  /** 0 for a delete marker. */
  readonly size: number
  /** As precise as the server lists it: MinIO in milliseconds, AWS in seconds. */
  readonly modifiedAt: Date
  /** In quotes; empty for a delete marker. */
  readonly etag: string
}

/** The versions directly below a prefix, and the folders that hold others, by their whole keys. */
interface VersionsPage {
  readonly versions: readonly ListedVersion[]
  /** End with a slash. */
  readonly folders: readonly string[]
}

/** Lists page by page as the reader requests more, in the order of the keys' UTF-8 bytes; of one key the newest first. */
export async function* listVersions(request: ListRequest): AsyncGenerator<VersionsPage> {
  const { s3, bucket, prefix, after, isDeep = false, pageSize = 1000 } = request
  let marker: { KeyMarker?: string; VersionIdMarker?: string } =
    after === undefined ? {} : { KeyMarker: after }
  let last: ListedVersion | undefined
  let isRestarted = false
  for (;;) {
    const command = new ListObjectVersionsCommand({
      Bucket: bucket,
      Prefix: prefix,
      ...(!isDeep && { Delimiter: '/' }),
      MaxKeys: pageSize,
      // Keys may have characters that XML cannot contain.
      EncodingType: 'url',
      ...marker,
    })
    const kinds = noteKinds(command)
    const page = await translating(s3.send(command))
    // The page of a proxy is no list; least of all an empty one.
    if (page.Name === undefined) throw unreadableList()
    const decode = keyDecoder(page.EncodingType)
    const found = inOrder(page, kinds(), decode)
    const [first] = found
    isRestarted = first !== undefined && first.key === last?.key && (first.isLatest || isRestarted)
    const versions = last && isRestarted ? olderThan(last, found) : found
    last = versions.at(-1) ?? last
    yield {
      versions,
      folders: (page.CommonPrefixes ?? []).map(({ Prefix = '' }) => decode(Prefix)),
    }
    const { IsTruncated, NextKeyMarker, NextVersionIdMarker } = page
    if (IsTruncated !== true || NextKeyMarker === undefined) return
    marker = {
      KeyMarker: decode(NextKeyMarker),
      ...(NextVersionIdMarker && { VersionIdMarker: NextVersionIdMarker }),
    }
  }
}

/**
 * What follows `last` in an answer that begins with the newest version of its key again. MinIO does that if `last` was removed meanwhile;
 * to take the newest for older than `last` would be to take the present object for a replaced one.
 */
function olderThan(last: ListedVersion, versions: readonly ListedVersion[]) {
  return versions.filter(
    ({ key, version, modifiedAt, isLatest }) =>
      key !== last.key || (!isLatest && version !== last.version && modifiedAt <= last.modifiedAt),
  )
}

/** The versions and delete markers of one key, newest first, in pages. */
export async function* versionsOfKey(
  { s3, bucket, key }: ObjectRef,
  pageSize = 1000,
): AsyncGenerator<readonly ListedVersion[]> {
  for await (const { versions } of listVersions({ s3, bucket, prefix: key, pageSize })) {
    // The key itself comes before all longer keys that begin with it.
    const end = versions.findIndex((listed) => listed.key !== key)
    yield end === -1 ? versions : versions.slice(0, end)
    if (end !== -1) return
  }
}

type Kind = 'Version' | 'DeleteMarker'

/**
 * Notes in which order the answer to `command` has versions and delete markers. The client returns two lists, whose times do not show the
 * order: on AWS several changes within a second have the same time.
 */
function noteKinds(command: ListObjectVersionsCommand): () => readonly Kind[] {
  let kinds: readonly Kind[] = []
  command.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args)
      const response = result.response as { statusCode?: number; body?: unknown }
      if (response.statusCode !== 200) return result
      const chunks: Uint8Array[] = []
      for await (const chunk of response.body as AsyncIterable<Uint8Array>) chunks.push(chunk)
      const whole = Buffer.concat(chunks)
      // Keys have no such text: they are URL-encoded, or escaped for XML.
      const tags = whole.toString('latin1').matchAll(/<(Version|DeleteMarker)>/g)
      kinds = Array.from(tags, ([, tag]) => (tag === 'Version' ? 'Version' : 'DeleteMarker'))
      response.body = Uint8Array.from(whole)
      return result
    },
    { step: 'deserialize', priority: 'low', name: 'noteKinds' },
  )
  return () => kinds
}

function inOrder(
  { Versions = [], DeleteMarkers = [] }: ListObjectVersionsCommandOutput,
  kinds: readonly Kind[],
  decode: (key: string) => string,
): ListedVersion[] {
  if (kinds.length !== Versions.length + DeleteMarkers.length) throw unreadableList()
  const [versions, markers] = [Versions.values(), DeleteMarkers.values()]
  const take = (kind: Kind): ObjectVersion | undefined =>
    kind === 'Version' ? versions.next().value : markers.next().value
  return kinds.map((kind) => {
    const found = take(kind) ?? {}
    const { Key = '', VersionId: version, LastModified, Size = 0, ETag = '' } = found
    if (version === undefined) throw unreadableList()
    const modifiedAt = LastModified ?? new Date(0)
    const isMarker = kind === 'DeleteMarker'
    const isLatest = found.IsLatest === true
    return { key: decode(Key), version, isMarker, isLatest, size: Size, modifiedAt, etag: ETag }
  })
}
