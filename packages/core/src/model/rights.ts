import { rights, type Right } from '../ports/credential-source.ts'
import { FileServiceError } from './errors.ts'
import { kindOf } from './require.ts'

/** Words for the usual sets of rights. */
export const rightSets = {
  /** Everything. */
  full: rights,
  /** Lists and reads. */
  'read-only': ['list', 'read'],
  /** Lists, reads and adds, as for back-ups that a stolen password must not destroy. */
  'append-only': ['list', 'read', 'create'],
  /** Adds, and sees nothing. */
  'drop-box': ['create'],
} as const satisfies Record<string, readonly Right[]>

/** Who has rights, such as a `Customer`. */
interface Holder {
  /** Default: every right. */
  readonly may?: readonly Right[]
}

/** Whether a customer's login has all of these rights. */
export function hasRights({ may }: Holder, ...needed: readonly Right[]): boolean {
  return may === undefined || needed.every((right) => may.includes(right))
}

/** @throws FileServiceError `not-allowed`, which names the rights that the holder lacks */
export function requireRights(holder: Holder, ...needed: readonly Right[]): void {
  if (hasRights(holder, ...needed)) return
  const missing = needed.filter((right) => !hasRights(holder, right))
  const what = missing.length === 1 ? 'right' : 'rights'
  throw new FileServiceError('not-allowed', `Not allowed: missing ${what} ${missing.join(', ')}`)
}

/**
 * What is wrong with a list of rights; `undefined` if nothing is. `replace` needs `create`: no store can replace a file only if there is
 * one.
 */
export function rightsProblem(may: readonly unknown[]): string | undefined {
  const unknown = may.find((right) => !rights.some((known) => known === right))
  if (unknown !== undefined) {
    const named = typeof unknown === 'string' ? JSON.stringify(unknown) : kindOf(unknown)
    return `has ${named}, which is no right`
  }
  return may.includes('replace') && !may.includes('create')
    ? 'has "replace" without "create"'
    : undefined
}
