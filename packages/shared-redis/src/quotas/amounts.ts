import { sum, type Amount, type Limits } from '@holdfast/core'

export const nothing: Amount = { bytes: 0, files: 0 }

export function positive({ bytes, files }: Amount): Amount {
  return { bytes: Math.max(0, bytes), files: Math.max(0, files) }
}

export function least(one: Amount, other: Amount): Amount {
  return { bytes: Math.min(one.bytes, other.bytes), files: Math.min(one.files, other.files) }
}

export function most(one: Amount, other: Amount): Amount {
  return { bytes: Math.max(one.bytes, other.bytes), files: Math.max(one.files, other.files) }
}

export function bytesOf({ bytes }: Amount): Amount {
  return { bytes, files: 0 }
}

/** The sum of what several wait for. */
export function total(waiting: readonly { readonly amount: Amount }[]): Amount {
  return waiting.reduce((all, { amount }) => sum(all, amount), nothing)
}

/** Whether some limit of one is lower than that of the other. */
export function isLower(one: Limits, other: Limits): boolean {
  const { quota = Infinity, maxFiles = Infinity } = one
  return quota < (other.quota ?? Infinity) || maxFiles < (other.maxFiles ?? Infinity)
}
