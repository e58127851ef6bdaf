import type { Customer } from '../model/customer.ts'
import { uploadTakenOver } from '../model/upload-rules.ts'
import {
  bytesExceeded,
  difference,
  filesExceeded,
  sum,
  type Amount,
  type QuotaAccount,
} from './quota-accounts.ts'

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
   * Records that the unfinished upload of this claim has `offset` bytes at least, including those of earlier pieces, and frees all
   * other claimed bytes. After this call no bytes arrive. Without this call, all claimed bytes count until the store is asked again.
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

/** Ends a claim of which no byte has arrived. That of a piece would count all that it has claimed as an unfinished upload's otherwise. */
export function endUnused(claim: QuotaClaim): void {
  claim.stage(0)
  claim.end()
}

/** A claim in accounts that this process keeps itself. */
export interface LocalClaim extends QuotaClaim {
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

export const nothing: Amount = { bytes: 0, files: 0 }

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
  /** What the store keeps under the name. */
  lookUp(): Promise<Amount>
  /** Locks the name, after other uploads and deletions have unlocked it, and looks it up. */
  lock(): Promise<LockedFile>
}

/** A file whose name no other upload or deletion may change. */
export interface LockedFile {
  readonly kept: Amount
  readonly unlock: () => void
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
  /** Bytes that have arrived or are reserved. */
  let taken = 0
  /** What the account counts for this claim: the file that it replaces is free space. */
  let claimed = nothing
  let replaced = nothing
  let unlock: (() => void) | undefined
  let endPublishing: (() => void) | undefined
  let isPublishing = false
  let hasYielded = false
  let ended = false
  account.users++
  if (file.upload) account.pieces.change(file.upload.id, 1)

  const isPiece = file.upload !== undefined
  const hasEnded = () => ended
  /** What a claim of `bytes` counts. Bytes of an unfinished upload are beside the file that it replaces until it is published. */
  const countOf = (bytes: number): Amount => ({
    bytes: file.upload ? bytes : Math.max(0, bytes - replaced.bytes),
    files: hasYielded ? 1 : 1 - replaced.files,
  })
  /** How much of the replaced file's space a claim of `bytes` leaves free. */
  const credit = (bytes: number) =>
    file.upload ? replaced.bytes : Math.max(0, replaced.bytes - bytes)
  /** The bytes of earlier pieces. */
  const ofUpload = () => (file.upload ? account.staged(file.upload.id) : 0)
  const setClaimed = (next: Amount) => {
    account.change(difference(next, claimed), isPiece)
    claimed = next
  }
  const refusal = (more: Amount, credited: number, needed: number | undefined) => {
    const others = difference(account.used(), claimed)
    const { bytes, files } = sum(sum(others, claimed), more)
    if (bytes - credited <= quota && more.files > 0 && files > maxFiles) {
      return filesExceeded(others.files, maxFiles)
    }
    if (file.upload && account.pieces.count(file.upload.id) > 1) return uploadTakenOver()
    const other = others.bytes - replaced.bytes - ofUpload()
    return bytesExceeded({ others: other, quota, needed })
  }
  const askOthers = async (bytes: number, more: Amount, needed: number | undefined) => {
    const terms = { credit: credit(bytes), isPiece }
    const isTaken = await account.shared?.take(more, customer, terms)
    if (!isTaken) throw refusal(more, credit(bytes), needed)
    claimed = sum(claimed, more)
    // The upload may have ended meanwhile: what it claimed then was freed.
    if (ended) return setClaimed(nothing)
    taken = bytes
  }
  /**
   * Claims `bytes` in all, and a file. `needed` is the size of the whole file, if it is known. Returns a promise only if other servers
   * must be asked.
   * @throws FileServiceError if they do not fit
   */
  const take = (bytes: number, needed?: number): void | Promise<void> => {
    if (ended) return undefined
    const more = difference(countOf(bytes), claimed)
    const fits = account.fits(more, customer, { credit: credit(bytes), isPiece })
    if (!fits && account.shared) return askOthers(bytes, more, needed)
    if (!fits) throw refusal(more, credit(bytes), needed)
    taken = bytes
    return setClaimed(countOf(bytes))
  }
  const announce = async (size: number) => {
    replaced = await file.lookUp()
    // Without a size, and for a piece, it is not known how large the file will be.
    await take(size, size > 0 && file.upload === undefined ? size : undefined)
  }
  const release = () => {
    setClaimed(nothing)
    endPublishing?.()
    account.users--
    if (file.upload) account.pieces.change(file.upload.id, -1)
    unlock?.()
  }
  /** After a failed publication it is unknown what the store keeps: looks that up, so that the next claim can wait for it. */
  const lookUpOutcome = async () => {
    try {
      const found = await file.lookUp()
      const isUnfinished = await file.upload?.isUnfinished()
      account.record({ added: found, removed: replaced })
      if (file.upload && isUnfinished === false) account.unstage(file.upload.id)
    } catch {
      // Assume the larger usage until the next count.
      const added = { bytes: Math.max(replaced.bytes, arrived), files: 1 }
      account.record({ added, removed: replaced })
      account.invalidateCount()
    }
    release()
  }
  /** After the name was yielded, others may have changed the file. Counts too much, which is safe. */
  const assumeWorst = (upload?: string) => {
    account.record({ added: { bytes: arrived, files: 1 }, removed: nothing, upload })
    account.invalidateCount()
  }
  /** Without `stage`, all claimed bytes may have become part of an unfinished upload. */
  const assumeStaged = () => {
    if (file.upload === undefined || staged !== undefined || taken === 0) return
    const { id } = file.upload
    account.stageMore(id, taken, claimed.bytes)
    claimed = { bytes: 0, files: claimed.files }
    account.invalidateCount()
  }
  const claim: LocalClaim = {
    grow(bytes) {
      if (ended || staged !== undefined) return undefined
      const inAll = arrived + bytes
      const asking = inAll > taken ? take(inAll) : undefined
      if (asking === undefined) {
        arrived = inAll
        return undefined
      }
      return asking.then(() => void (arrived = inAll))
    },
    reserve(bytes) {
      const missing = bytes - (taken - arrived)
      const free = Math.floor((account.room(customer, isPiece) + credit(taken)) * shareAhead)
      const ahead = Math.min(missing, free)
      if (!ended && ahead > 0) {
        taken += ahead
        setClaimed(countOf(taken))
      }
      return taken - arrived
    },
    stage(offset) {
      if (ended || file.upload === undefined) return
      account.stage(file.upload.id, offset, claimed.bytes)
      claimed = { bytes: 0, files: claimed.files }
      taken = 0
      arrived = 0
      staged = offset
    },
    async prepare() {
      const locked = await file.lock()
      // The upload may have been cancelled during the wait.
      if (hasEnded()) return locked.unlock()
      unlock = locked.unlock
      replaced = locked.kept
      await account.shared?.confirm()
      await take(arrived, arrived + ofUpload())
      endPublishing = await account.shared?.beginPublishing(
        isPiece ? { bytes: 0, files: claimed.files } : claimed,
      )
      isPublishing = !hasEnded()
      if (!isPublishing) endPublishing?.()
    },
    settle() {
      const upload = staged === undefined ? undefined : file.upload?.id
      if (staged !== undefined) arrived = staged
      if (hasYielded) assumeWorst(upload)
      else account.record({ added: { bytes: arrived, files: 1 }, removed: replaced, upload })
      isPublishing = false
    },
    yieldName() {
      if (!isPublishing || ended) return
      hasYielded = true
      // The replaced file may be deleted meanwhile, and a new one stored.
      setClaimed({ bytes: claimed.bytes, files: 1 })
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
