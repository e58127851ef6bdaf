import { canCompareAndSwap } from '../src/bucket/can-compare-and-swap.ts'
import { checkListedNames } from '../src/bucket/check-bucket.ts'
import {
  openTryingBy,
  type MinioBlobStore,
  type MinioBlobStoreOptions,
} from '../src/minio-blob-store.ts'

const swaps = new Map<string, Promise<boolean>>()
const names = new Map<string, Promise<void>>()

/**
 * Opens a store as `openMinioBlobStore` does, but tries only once for each server whether it replaces objects under a condition,
 * and what names its lists have. The trials are twelve requests, a third of all that the contract sends, and their outcome is
 * the same in each new bucket.
 */
export function openServerKnown(
  options: MinioBlobStoreOptions,
  server = options.endpoint,
): Promise<MinioBlobStore> {
  return openTryingBy(
    {
      canSwap: once(swaps, server, canCompareAndSwap),
      checkNames: once(names, server, checkListedNames),
    },
    options,
  )
}

function once<Trial, Outcome>(
  outcomes: Map<string, Promise<Outcome>>,
  server: string,
  find: (trial: Trial) => Promise<Outcome>,
) {
  return (trial: Trial) => {
    const outcome = outcomes.get(server) ?? find(trial)
    outcomes.set(server, outcome)
    return outcome
  }
}
