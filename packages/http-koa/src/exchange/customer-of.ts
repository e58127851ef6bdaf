import type { Customer } from '@holdfast/core'
import type { HoldfastState } from './holdfast-state.ts'

/** The customer who sent the request, or whose link has let it in; `undefined` as long as there is none. */
export function customerOf({ files, link }: HoldfastState): Customer | undefined {
  return files?.customer ?? link?.uploads?.customer
}
