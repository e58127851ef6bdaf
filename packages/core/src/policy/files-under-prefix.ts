import type { Customer } from '../model/customer.ts'
import type { KeyedTurns, Turn } from '../model/keyed-lock.ts'
import { linkExceeded } from '../model/quota-errors.ts'
import type { BlobStore } from '../ports/blob-store.ts'
import type { FilesUnderPrefix, PrefixCounts } from './prefix-counts.ts'
import type { QuotaClaim } from './quota-claim.ts'
import type { QuotaKeeper } from './quota-keeper.ts'

/** What the bound is kept with. */
export interface CountedUploads {
  readonly quotas: Pick<QuotaKeeper, 'claim'>
  readonly store: Pick<BlobStore, 'stat'>
  readonly counts: PrefixCounts
  /** By customer: one upload at a time counts and is published. */
  readonly turns: KeyedTurns
}

/**
 * Claims in `quotas` that also keep the bound: each is refused where there are `maxFiles` already, unless the upload replaces
 * one of them. The files are counted when the upload begins, which spares the client a useless upload, and when it is about to
 * be published, in its turn. A count that is kept is good enough, unless another service has had a turn meanwhile.
 */
export function limitFilesUnder(
  bound: FilesUnderPrefix,
  { quotas, store, counts, turns }: CountedUploads,
): Pick<QuotaKeeper, 'claim'> {
  /** What an earlier turn is about to publish counts as a file. */
  const check = async ({ name: customer }: Customer, name: string, unended: number) => {
    const maxFiles = bound.maxFiles - unended
    if (maxFiles > 0 && (await counts.hasRoom(customer, { ...bound, maxFiles }))) return
    if (await store.stat({ customer, name })) return
    throw linkExceeded(bound.maxFiles)
  }
  return {
    async claim(customer, name, size, upload) {
      await check(customer, name, 0)
      const claim = await quotas.claim(customer, name, size, upload)
      return inTurn(claim, {
        take: () => turns(customer.name),
        async check({ isNext, unended }) {
          if (!isNext) counts.forget(customer.name)
          await check(customer, name, unended)
        },
        onPublished: () => counts.add(customer.name, name),
        onUnknown: () => counts.forget(customer.name),
      })
    },
  }
}

interface TurnWork {
  readonly take: () => Promise<Turn>
  /** Called in the turn, before the upload is published. */
  readonly check: (turn: Turn) => Promise<void>
  /** Called in the turn, once the upload has been published. */
  readonly onPublished: () => void
  /** Called in the turn where it is not known whether the upload has been published. */
  readonly onUnknown: () => void
}

/** `claim`, which takes its turn before it lets the upload be published, and ends its turn with itself. */
function inTurn(claim: QuotaClaim, { take, check, onPublished, onUnknown }: TurnWork): QuotaClaim {
  let endTurn = () => {}
  let isPublishing = false
  let hasEnded = false
  return {
    grow: (bytes) => claim.grow(bytes),
    stage: (offset) => claim.stage(offset),
    async prepare() {
      const turn = await take()
      // The upload may have been given up during the wait.
      if (hasEnded) return turn.end()
      endTurn = turn.end
      await check(turn)
      await claim.prepare()
      isPublishing = true
    },
    settle() {
      claim.settle()
      onPublished()
      isPublishing = false
    },
    end() {
      if (isPublishing) onUnknown()
      isPublishing = false
      hasEnded = true
      claim.end()
      endTurn()
    },
  }
}
