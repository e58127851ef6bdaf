import { DeleteObjectsCommand, type ObjectIdentifier, type S3Client } from '@aws-sdk/client-s3'
import { FileServiceError } from '@holdfast/core'
import { translating } from '../http/s3-errors.ts'
import { listVersions, type ListedVersion } from '../list/list-objects.ts'

/** Removes objects that are no blobs: records and parts of uploads, and texts about customers.. */
export interface OwnObjects {
  /** Removes objects, whether they exist or not; in a bucket that keeps versions, with all of them. */
  remove(keys: readonly string[]): Promise<void>
  /** Removes the versions that the object of `key` has replaced. Never throws: what stays is removed with the object. */
  removeReplaced(key: string): Promise<void>
}

/** `keepsVersions`: whether the bucket does, and we may list and remove them. */
export function createOwnObjects(s3: S3Client, bucket: string, keepsVersions: boolean): OwnObjects {
  if (!keepsVersions) {
    const remove = (keys: readonly string[]) =>
      removeObjects(
        s3,
        bucket,
        keys.map((Key) => ({ Key })),
      )
    return { remove, removeReplaced: async () => {} }
  }
  return {
    async remove(keys) {
      for (const [prefix, wanted] of groupsOf(keys)) {
        const { newest, replaced } = await findVersions(s3, bucket, prefix, wanted)
        // First, since the newest of those that are left is the object.
        await removeVersions(s3, bucket, replaced)
        await removeVersions(s3, bucket, newest)
      }
    },
    async removeReplaced(key) {
      try {
        const { replaced } = await findVersions(s3, bucket, key, new Set([key]))
        await removeVersions(s3, bucket, replaced)
      } catch {
        // The next change of the object removes them.
      }
    },
  }
}

/** Keys that are listed by one prefix: that of their folder, or a single key itself. */
function groupsOf(keys: readonly string[]): Iterable<readonly [string, ReadonlySet<string>]> {
  const folders = Map.groupBy(keys, (key) => key.slice(0, key.lastIndexOf('/') + 1))
  return [...folders].map(([folder, [first = '', ...more]]) => [
    more.length === 0 ? first : folder,
    new Set([first, ...more]),
  ])
}

/** The versions and delete markers of `keys`, which begin with `prefix`. */
async function findVersions(
  s3: S3Client,
  bucket: string,
  prefix: string,
  keys: ReadonlySet<string>,
) {
  const newest: ListedVersion[] = []
  const replaced: ListedVersion[] = []
  let last: string | undefined
  for await (const { versions } of listVersions({ s3, bucket, prefix })) {
    for (const found of versions) {
      if (keys.has(found.key)) (found.key === last ? replaced : newest).push(found)
      last = found.key
    }
  }
  return { newest, replaced }
}

/** Removes versions and delete markers for good. @throws FileServiceError `store-unavailable` if some of them stay */
export function removeVersions(
  s3: S3Client,
  bucket: string,
  versions: readonly Pick<ListedVersion, 'key' | 'version'>[],
): Promise<void> {
  return removeObjects(
    s3,
    bucket,
    versions.map(({ key, version }) => ({ Key: key, VersionId: version })),
  )
}

/** S3's limit for one request. */
const mostAtOnce = 1000

async function removeObjects(
  s3: S3Client,
  bucket: string,
  objects: readonly ObjectIdentifier[],
): Promise<void> {
  for (let at = 0; at < objects.length; at += mostAtOnce) {
    const Objects = objects.slice(at, at + mostAtOnce)
    const command = new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects, Quiet: true } })
    const { Errors: errors = [] } = await translating(s3.send(command))
    const [first] = errors
    if (first) {
      const cause = Object.assign(new Error(first.Message), { name: first.Code ?? '' })
      throw new FileServiceError('store-unavailable', `Not removed: ${cause.name}`, { cause })
    }
  }
}
