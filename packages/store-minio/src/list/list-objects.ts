import {
  ListObjectsV2Command,
  type ListObjectsV2CommandOutput,
  type S3Client,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandInput,
  type ListMultipartUploadsCommandOutput,
} from '@aws-sdk/client-s3'
import { FileServiceError } from '@holdfast/core'
import { keyDecoder } from '../keys/object-keys.ts'
import { translating, isAnswer } from '../errors/s3-errors.ts'

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
export interface ListedPage {
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
export function unreadableList(): FileServiceError {
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
