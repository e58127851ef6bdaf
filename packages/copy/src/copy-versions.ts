import type {
  BlobInfo,
  BlobKey,
  BlobStore,
  History,
  IncrementalHash,
  KeptBlob,
  OpenBlob,
} from '@holdfast/core'
import { copyFile, digestOfContent, readDigest } from './copy-file.ts'
import type { FileCount } from './copy-progress.ts'

export interface VersionCopierOptions {
  readonly from: BlobStore
  readonly to: BlobStore
  readonly signal: AbortSignal
  readonly createHash: () => IncrementalHash
}

/** Copies the earlier versions of files. */
export interface VersionCopier {
  /**
   * Copies the versions of a file that the target does not have, oldest first, and resolves with how many; of a file that is deleted in the
   * source, too, which is deleted in the target afterwards. Afterwards the file itself must be copied, so that it replaces its last version.
   *
   * The target has the versions, and the file, up to the last one that is the same as its newest: so a copy that was stopped goes on. The
   * names and times of versions are those of the target. Holds the list of one file's versions in memory.
   */
  copy(key: BlobKey, isDeleted: boolean): Promise<FileCount>
}

/** @throws TypeError if one of the stores has no history */
export function createVersionCopier(options: VersionCopierOptions): VersionCopier {
  const { from, to } = options
  const [source, target] = [from.history, to.history]
  if (!source || !target) throw new TypeError('Only stores with a history have versions to copy')

  const contentsOf = async (store: BlobStore, history: History, key: BlobKey) => {
    const versions = (await versionsOf(history, key)).map((kept) =>
      createContent(options, key, kept, opener(history, kept)),
    )
    const info = await store.stat(key)
    const present = info && createContent(options, key, info, (each) => store.open(each))
    return { versions, all: present ? [...versions, present] : versions, present }
  }

  return {
    async copy(key, isDeleted) {
      const ofSource = await contentsOf(from, source, key)
      if (ofSource.versions.length === 0) return nothing
      const ofTarget = await contentsOf(to, target, key)
      // It is only in the target, so that the copy may remove it, or must leave it.
      if (isDeleted && ofTarget.present) return nothing
      const isBare = ofTarget.versions.length === 0
      const found = await countPresent(ofSource.all, ofTarget.all)
      // An earlier copy without versions has left nothing but the file.
      const done = isBare && found === ofSource.all.length ? 0 : found
      let [files, bytes] = [0, 0]
      for (const { info, open } of ofSource.versions.slice(done)) {
        const opened = { open, stat: async () => info }
        try {
          const copied = await copyFile({
            ...{ ...options, key, from: opened, keepReplaced: true, onBytes() {} },
          })
          if (!copied) continue
          files++
          bytes += copied.size
        } finally {
          // At once: a copy that is stopped must not leave the version as the file.
          if (isDeleted) await to.delete(key, { keepReplaced: true })
        }
      }
      return { files, bytes }
    },
  }
}

/** How many versions are kept in the store, for all customers or one; 0 if it has no history. */
export async function countVersions(
  { history }: BlobStore,
  customer: string | undefined,
  signal: AbortSignal,
): Promise<number> {
  let count = 0
  if (history === undefined) return count
  for await (const each of customer === undefined ? history.customers() : [customer]) {
    for await (const page of history.kept(each)) {
      if (signal.aborted) return count
      count += page.length
    }
  }
  return count
}

const nothing: FileCount = { files: 0, bytes: 0 }

/** The versions of a name, oldest first. */
async function versionsOf(history: History, key: BlobKey): Promise<readonly KeptBlob[]> {
  const versions: KeptBlob[] = []
  for await (const page of history.versions(key)) versions.push(...page)
  return versions.reverse()
}

type Open = (key: BlobKey) => Promise<OpenBlob | undefined>

function opener(history: History, { version }: KeptBlob): Open {
  return (key) => history.open({ ...key, version })
}

/** A version, or the present file. */
interface Content {
  readonly info: BlobInfo
  readonly open: Open
  /** The digest of its bytes, which are read once; `undefined` if it is gone. */
  digest(): Promise<string | undefined>
}

function createContent(
  { signal, createHash }: VersionCopierOptions,
  key: BlobKey,
  info: BlobInfo,
  open: Open,
): Content {
  let reading: Promise<string | undefined> | undefined
  const read = async () => {
    const found = await readDigest({ open }, key, { signal, createHash, onBytes() {} })
    return found?.digest
  }
  return { info, open, digest: () => (reading ??= read()) }
}

async function isSame(one: Content, other: Content): Promise<boolean> {
  if (one.info.size !== other.info.size) return false
  if (one.info.etag === other.info.etag && digestOfContent.test(one.info.etag)) return true
  const digest = await one.digest()
  return digest !== undefined && digest === (await other.digest())
}

/**
 * How many of `source` the target has: up to the place at which the most contents before it are the last ones of `target`. Of several such
 * places it is the first, so that nothing is left out. Both are oldest first.
 */
async function countPresent(
  source: readonly Content[],
  target: readonly Content[],
): Promise<number> {
  let best = { length: 0, end: 0 }
  for (let end = 1; end <= source.length; end++) {
    let length = 0
    while (true) {
      const [one, other] = [source[end - 1 - length], target.at(-1 - length)]
      if (!one || !other || !(await isSame(one, other))) break
      length++
    }
    if (length > best.length) best = { length, end }
  }
  return best.end
}
