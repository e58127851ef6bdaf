import type { Customer } from '../model/customer.ts'
import { uploadTakenOver } from '../model/upload-rules.ts'
import { bytesExceeded, filesExceeded, type QuotaAccount } from './quota-accounts.ts'

/**
 * The share of one upload in a customer's quota. Announced bytes count at once, all others when they arrive. The file counts as one
 * more file, unless it replaces one. The claim of an upload in pieces can turn its bytes, by `stage`, into bytes of an unfinished
 * upload. These count until the upload is published, discarded or expired.
 */
export interface QuotaClaim {
  /**
   * Counts `bytes` that have arrived: first against the reserved bytes, then against the free ones. Does nothing after the claim has
   * ended: the content of a cancelled upload may still deliver a chunk. Returns a promise only if another process must be asked; the
   * next chunk waits for it.
   * @throws FileServiceError `quota-exceeded` when they would exceed the quota.
   */
  grow(bytes: number): void | Promise<void>
  /**
   * Records that the unfinished upload of this claim has `offset` bytes, including those of earlier pieces, and frees all other
   * claimed bytes. After this call no bytes arrive. Without this call, all claimed bytes count until the store is asked again.
   */
  stage(offset: number): void
  /**
   * Await this between the end of the content and its publication. It looks up the file that the upload replaces, and locks the name
   * against other uploads and deletions until the claim ends. Reserved bytes that did not arrive become free.
   * @throws FileServiceError `quota-exceeded` when the upload fits only if it replaces a file, and that file was deleted meanwhile.
   */
  prepare(): Promise<void>
  /** Records that the upload was published. */
  settle(): void
  /** Ends the claim, after success and after failure. If publishing failed, the next claim waits until the store was asked. */
  end(): void
}

/** A claim in accounts that this process keeps itself. */
export interface LocalClaim extends QuotaClaim {
  grow(bytes: number): void
  /**
   * Reserves up to `bytes` in advance for content of unknown size, but at most 1/64 of the free quota. Returns how many bytes may now
   * arrive without exceeding the quota. It is for a process that keeps the accounts for other processes, which then need not ask
   * about every chunk.
   */
  reserve(bytes: number): number
  /**
   * Unlocks the name although the upload has not ended since `prepare`. From then on its bytes and one file count in addition to all
   * others, until the customer is counted again.
   */
  yieldName(): void
  /**
   * Ends the claim of a process that has crashed. If it was publishing, the store may still complete that until `over` resolves.
   * Until then the bytes count and the name stays locked; then the outcome is looked up.
   */
  endAfter(over: Promise<unknown>): void
}

/** The share of the free quota that is reserved for bytes that may never arrive. */
const shareAhead = 1 / 64

/** What the store keeps under a name. */
export interface Kept {
  readonly bytes: number
  readonly files: 0 | 1
}

export const nothing: Kept = { bytes: 0, files: 0 }

/** An upload that comes in pieces. */
interface ClaimedUpload {
  readonly id: string
  /** Whether the store has it, and has not published it. */
  isUnfinished(): Promise<boolean>
}

/** The file that an upload is going to store. */
export interface ClaimedFile {
  /** `undefined` if the file does not come in pieces. */
  readonly upload: ClaimedUpload | undefined
  lookUp(): Promise<Kept>
  /** Locks the name, after other uploads and deletions have unlocked it; resolves with the function that unlocks it. */
  lock(): Promise<() => void>
}

export interface OpenedClaim {
  readonly claim: LocalClaim
  /** Reserves `size` bytes and one file. Call it after the account was counted. */
  readonly announce: (size: number) => Promise<void>
}

/** Opens a claim in `account`. Until the claim ends, the account counts it in `users`. */
export function openClaim(
  customer: Customer,
  account: QuotaAccount,
  file: ClaimedFile,
): OpenedClaim {
  const { quota = Infinity, maxFiles = Infinity } = customer
  let arrived = 0
  /** The bytes of an upload in pieces, after `stage`. */
  let staged: number | undefined
  let claimed = 0
  let claimedFiles = 0
  let replaced = nothing
  let unlock: (() => void) | undefined
  let isPublishing = false
  let hasYielded = false
  let ended = false
  account.users++
  if (file.upload) account.pieces.change(file.upload.id, 1)

  const used = () => account.kept + account.staged.total() - replaced.bytes + account.claimed
  const room = () => quota - used()
  /** The bytes of this upload that count. */
  const own = () => claimed + (file.upload ? account.staged.of(file.upload.id) : 0)
  /** Throws if `bytes` more do not fit. `needed` is the size of the whole file, if it is known. */
  const check = (bytes: number, needed?: number) => {
    if (bytes <= room()) return
    if (file.upload && account.pieces.count(file.upload.id) > 1) {
      throw uploadTakenOver()
    }
    throw bytesExceeded({ others: used() - own(), quota, needed })
  }
  const change = (bytes: number) => {
    if (ended) return
    claimed += bytes
    account.claimed += bytes
  }
  const claimFiles = (files: number) => {
    if (ended) return
    account.claimedFiles += files - claimedFiles
    claimedFiles = files
  }
  /** Claims the file that the upload adds. Claims none if the upload replaces a file. */
  const claimFile = () => {
    const files = 1 - replaced.files
    const others = account.files + account.claimedFiles - claimedFiles
    if (files > claimedFiles && others + files > maxFiles) throw filesExceeded(others, maxFiles)
    claimFiles(files)
  }
  const announce = async (size: number) => {
    replaced = await file.lookUp()
    // Without a size, and for a piece, it is not known how large the file will be.
    check(size, size > 0 && file.upload === undefined ? size : undefined)
    claimFile()
    change(size)
  }
  const release = () => {
    account.claimed -= claimed
    account.claimedFiles -= claimedFiles
    account.users--
    if (file.upload) account.pieces.change(file.upload.id, -1)
    unlock?.()
  }
  /** After a failed publication it is unknown what the store keeps: looks that up, so that the next claim can wait for it. */
  const lookUpOutcome = async () => {
    try {
      const found = await file.lookUp()
      const isUnfinished = await file.upload?.isUnfinished()
      // Do not combine with the `await`: `kept` changes meanwhile.
      account.kept += found.bytes - replaced.bytes
      account.files += found.files - replaced.files
      if (file.upload && isUnfinished === false) account.staged.remove(file.upload.id)
    } catch {
      // Assume the larger usage until the next count.
      account.kept += Math.max(0, arrived - replaced.bytes)
      account.files += 1 - replaced.files
      account.countedAt = -Infinity
    }
    release()
  }
  /** After the name was yielded, others may have changed the file. Counts too much, which is safe. */
  const assumeWorst = () => {
    account.kept += arrived
    account.files++
    account.countedAt = -Infinity
  }
  /** Without `stage`, all claimed bytes may have become part of an unfinished upload. */
  const assumeStaged = () => {
    if (file.upload === undefined || staged !== undefined || claimed === 0) return
    const { id } = file.upload
    account.staged.raise(id, account.staged.of(id) + claimed)
    account.countedAt = -Infinity
  }
  const claim: LocalClaim = {
    grow(bytes) {
      if (ended || staged !== undefined) return
      const more = arrived + bytes - claimed
      if (more > 0) {
        check(more)
        change(more)
      }
      arrived += bytes
    },
    reserve(bytes) {
      const missing = bytes - (claimed - arrived)
      change(Math.max(0, Math.min(missing, Math.floor(room() * shareAhead))))
      return claimed - arrived
    },
    stage(offset) {
      if (ended || file.upload === undefined) return
      account.staged.raise(file.upload.id, offset)
      change(-claimed)
      arrived = 0
      staged = offset
    },
    async prepare() {
      unlock = await file.lock()
      // The upload may have been cancelled during the wait.
      if (ended) return unlock()
      replaced = await file.lookUp()
      change(arrived - claimed)
      check(0, own())
      claimFile()
      isPublishing = !ended
    },
    settle() {
      if (file.upload !== undefined && staged !== undefined) {
        account.staged.remove(file.upload.id)
        arrived = staged
      }
      if (hasYielded) assumeWorst()
      else {
        account.kept += arrived - replaced.bytes
        account.files += 1 - replaced.files
      }
      isPublishing = false
    },
    yieldName() {
      if (!isPublishing || ended) return
      hasYielded = true
      // The replaced file may be deleted meanwhile, and a new one stored.
      claimFiles(1)
      unlock?.()
    },
    endAfter(over) {
      if (ended || !isPublishing || hasYielded) return claim.end()
      ended = true
      void over.then(lookUpOutcome)
    },
    end() {
      if (ended) return
      ended = true
      assumeStaged()
      if (isPublishing && hasYielded) assumeWorst()
      if (!isPublishing || hasYielded) return release()
      account.counted = Promise.all([account.counted, lookUpOutcome()]).then(() => {})
    },
  }
  return { claim, announce }
}
