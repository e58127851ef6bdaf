import type { Customer } from '../model/customer.ts'
import { FileServiceError } from '../model/errors.ts'
import type { KeyedTurns, Turn } from '../model/keyed-turns.ts'
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
  readonly turns: KeyedTurns
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
  /** What an earlier turn is about to publish counts as a file. */
  const check = async ({ name: customer }: Customer, name: string, unended: number) => {
    let files = unended
    for await (const names of store.list(customer, { prefix, limit: maxFiles })) {
      files += names.length
    }
    if (files < maxFiles || (await store.stat({ customer, name }))) return
    const limit = `The limit of ${maxFiles} file(s)`
    throw new FileServiceError('quota-exceeded', `${limit} of the link would be exceeded`)
  }
  return {
    async claim(customer, name, size, upload) {
      await check(customer, name, 0)
      const claim = await quotas.claim(customer, name, size, upload)
      return inTurn(
        claim,
        () => turns(customer.name),
        ({ unended }) => check(customer, name, unended),
      )
    },
  }
}

/** `claim`, which takes its turn and calls `check` before it lets the upload be published, and ends its turn with itself. */
function inTurn(
  claim: QuotaClaim,
  takeTurn: () => Promise<Turn>,
  check: (turn: Turn) => Promise<void>,
): QuotaClaim {
  let endTurn = () => {}
  let hasEnded = false
  return {
    grow: (bytes) => claim.grow(bytes),
    stage: (offset) => claim.stage(offset),
    async prepare() {
      const turn = await takeTurn()
      // The upload may have been given up during the wait.
      if (hasEnded) return turn.end()
      endTurn = () => turn.end()
      await check(turn)
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
