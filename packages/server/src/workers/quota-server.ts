import type { LocalClaim, Customer, LocalQuotaKeeper } from '@holdfast/core'
import { leaseMs, outlivedMs, startTimer, type StartTimer } from './locks.ts'

/** How many bytes of an upload of unknown size may arrive before a worker has to ask again, if the quota allows it. */
const ahead = 1024 * 1024

interface FileOfCustomer {
  readonly customer: Customer
  readonly name: string
}

interface ClaimedFile extends FileOfCustomer {
  readonly size: number
  /** The unfinished upload of which the bytes are a piece. Absent for a whole file. */
  readonly upload?: string
}

interface RemovedFile extends FileOfCustomer {
  /** The name of the file that takes its place. Absent for a deletion. */
  readonly source?: string
}

/** The requests about quotas that a worker may send. */
export type QuotaHandlers = ReturnType<typeof createQuotaServer>['answers']

/**
 * Lets a worker make claims in `quotas`. The worker reports how each claim ends; `end` ends the remaining ones after the worker has
 * crashed. If such a claim was publishing, its outcome is looked up in the store, after the worker's last requests have ended.
 */
export function createQuotaServer(quotas: LocalQuotaKeeper, start: StartTimer = startTimer) {
  const claims = new Map<number, LocalClaim>()
  /** For claims and removals: the functions that end the leases of their names. */
  const leases = new Map<number, () => void>()
  const removals = new Map<number, Removal>()
  const beginnings = new Map<number, Beginning>()
  let count = 0
  let isGone = false

  const claimOf = (id: number) => {
    const claim = claims.get(id)
    if (claim === undefined) throw new Error('The claim has ended')
    return claim
  }
  const lease = (id: number, onExpiry: () => void) => leases.set(id, start(leaseMs, onExpiry))
  const endLease = (id: number) => {
    leases.get(id)?.()
    leases.delete(id)
  }
  const leaseRemoval = (id: number) =>
    lease(id, () => {
      removals.get(id)?.fail()
      removals.delete(id)
    })
  const answers = {
    async claim({ customer, name, size, upload }: ClaimedFile) {
      const claim = await quotas.claim(customer, name, size, upload)
      const id = count++
      if (isGone) claim.end()
      else claims.set(id, claim)
      return { id, room: claim.reserve(size > 0 ? 0 : ahead) }
    },
    async grow({ id, bytes }: { readonly id: number; readonly bytes: number }) {
      const claim = claimOf(id)
      await claim.grow(bytes)
      return { room: claim.reserve(ahead) }
    },
    stage({ id, offset }: { readonly id: number; readonly offset: number }) {
      claims.get(id)?.stage(offset)
    },
    async prepare({ id, bytes }: { readonly id: number; readonly bytes: number }) {
      const claim = claimOf(id)
      await claim.grow(bytes)
      await claim.prepare()
      // The claim may have ended during the wait.
      if (!isGone && claims.has(id)) lease(id, () => claim.yieldName())
    },
    end({ id, settled }: { readonly id: number; readonly settled: boolean }) {
      endLease(id)
      const claim = claims.get(id)
      if (settled) claim?.settle()
      claim?.end()
      claims.delete(id)
    },
    async beginRemoval(file: RemovedFile) {
      const id = count++
      const removal = await beginRemoval(quotas, file)
      if (isGone) removal.fail()
      else {
        removals.set(id, removal)
        leaseRemoval(id)
      }
      return { id }
    },
    /** Begins the lease of a removal anew: a rename in a bucket copies, which may take minutes. */
    keepRemoval({ id }: { readonly id: number }) {
      if (!removals.has(id)) return
      endLease(id)
      leaseRemoval(id)
    },
    /** Without `removed` it is not known whether the file was deleted. */
    async endRemoval({ id, removed }: { readonly id: number; readonly removed?: boolean }) {
      endLease(id)
      const removal = removals.get(id)
      removals.delete(id)
      if (removed === undefined) removal?.fail()
      else await removal?.end(removed)
    },
    async beginUpload({ customer, most }: { readonly customer: Customer; readonly most: number }) {
      const id = count++
      const beginning = await beginUpload(quotas, customer, most)
      if (isGone) beginning.end(undefined)
      else beginnings.set(id, beginning)
      return { id }
    },
    /** Without `upload`, no upload is known to have begun. */
    endBeginning({ id, upload }: { readonly id: number; readonly upload?: string }) {
      beginnings.get(id)?.end(upload)
      beginnings.delete(id)
    },
    endUpload: ({ customer, upload }: { readonly customer: Customer; readonly upload: string }) =>
      quotas.endUpload(customer, upload),
    release: ({ customer, upload }: { readonly customer: Customer; readonly upload: string }) =>
      quotas.release(customer, upload),
    releaseGone: (_nothing: object) => quotas.releaseGone(),
  }
  return {
    answers,
    end() {
      isGone = true
      for (const id of [...leases.keys()]) endLease(id)
      const over = new Promise<void>((resolve) => void start(outlivedMs, resolve))
      for (const claim of claims.values()) claim.endAfter(over)
      for (const removal of removals.values()) removal.fail()
      for (const beginning of beginnings.values()) beginning.end(undefined)
    },
  }
}

interface Beginning {
  /** `upload`: the id of the upload that has begun. */
  end(upload: string | undefined): void
}

/** Resolves when the upload may begin; the caller does not begin it itself. */
async function beginUpload(
  quotas: LocalQuotaKeeper,
  customer: Customer,
  most: number,
): Promise<Beginning> {
  const started = Promise.withResolvers<undefined>()
  const outcome = Promise.withResolvers<{ readonly id: string }>()
  const begun = quotas.beginUpload(customer, most, () => {
    started.resolve(undefined)
    return outcome.promise
  })
  begun.catch(started.reject)
  await started.promise
  return {
    end(upload) {
      if (upload !== undefined) outcome.resolve({ id: upload })
      else outcome.reject(new Error('No upload has begun in the worker'))
    },
  }
}

interface Removal {
  /** Resolves when the account includes the removal. */
  end(removed: boolean): Promise<unknown>
  fail(): void
}

/** Resolves when the file may be removed; the caller does not remove it itself. */
async function beginRemoval(
  quotas: LocalQuotaKeeper,
  { customer, name, source }: RemovedFile,
): Promise<Removal> {
  const started = Promise.withResolvers<undefined>()
  const outcome = Promise.withResolvers<boolean>()
  const waiting = () => {
    started.resolve(undefined)
    return outcome.promise
  }
  const freed = quotas.free(customer, name, waiting, source)
  // The store may have failed before.
  freed.catch(started.reject)
  await started.promise
  return {
    end(removed) {
      outcome.resolve(removed)
      return freed
    },
    fail: () => outcome.reject(new Error('The removal failed in a worker')),
  }
}
