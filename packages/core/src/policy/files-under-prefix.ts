import type { Customer } from '../model/customer.ts'
import { FileServiceError } from '../model/errors.ts'
import type { KeyedLock } from '../model/keyed-lock.ts'
import type { BlobStore } from '../ports/blob-store.ts'
import type { QuotaClaim } from './quota-claim.ts'
import type { QuotaKeeper } from './quota-keeper.ts'

/** A bound on the files of a customer whose names begin in one way. */
export interface FilesUnderPrefix {
  readonly prefix: string
  readonly maxFiles: number
}

/** What the bound is kept with. */
export interface CountedUploads {
  readonly quotas: Pick<QuotaKeeper, 'claim'>
  readonly store: Pick<BlobStore, 'list' | 'stat'>
  /** By customer: one upload at a time counts and is published. */
  readonly turns: KeyedLock
}

/**
 * Claims in `quotas` that also keep the bound: each is refused where there are `maxFiles` already, unless the upload replaces
 * one of them. The store is asked, so that nothing else has to be kept: once when the upload begins, which spares the client
 * a useless upload, and once when it is about to be published, in its turn.
 */
export function limitFilesUnder(
  { prefix, maxFiles }: FilesUnderPrefix,
  { quotas, store, turns }: CountedUploads,
): Pick<QuotaKeeper, 'claim'> {
  const check = async ({ name: customer }: Customer, name: string) => {
    let files = 0
    for await (const names of store.list(customer, { prefix, limit: maxFiles })) {
      files += names.length
    }
    if (files < maxFiles || (await store.stat({ customer, name }))) return
    const limit = `The limit of ${maxFiles} file(s)`
    throw new FileServiceError('quota-exceeded', `${limit} of the link would be exceeded`)
  }
  return {
    async claim(customer, name, size, upload) {
      await check(customer, name)
      const claim = await quotas.claim(customer, name, size, upload)
      return inTurn(
        claim,
        () => turns(customer.name),
        () => check(customer, name),
      )
    },
  }
}

/** `claim`, which takes its turn and calls `check` before it lets the upload be published, and ends its turn with itself. */
function inTurn(
  claim: QuotaClaim,
  takeTurn: () => Promise<() => void>,
  check: () => Promise<void>,
): QuotaClaim {
  let endTurn = () => {}
  let hasEnded = false
  return {
    grow: (bytes) => claim.grow(bytes),
    stage: (offset) => claim.stage(offset),
    async prepare() {
      const end = await takeTurn()
      // The upload may have been given up during the wait.
      if (hasEnded) return end()
      endTurn = end
      await check()
      await claim.prepare()
    },
    settle: () => claim.settle(),
    end() {
      hasEnded = true
      claim.end()
      endTurn()
    },
  }
}
