/** The terms of a link to upload, which the server has written into the page. */
export interface LinkTerms {
  /** The customer who made the link. */
  readonly customer: string
  /** The name of the one file, or the beginning of all names. */
  readonly name: string
  readonly isPrefix: boolean
  readonly maxFiles: number
  /** Bytes; `undefined` for no limit. */
  readonly maxSize?: number
  readonly replace: boolean
  /** Whether the link can store no more new files. */
  readonly isUsedUp: boolean
  readonly expires: Date
}

/** Why a link does not work: it is wrong or has expired, there were too many wrong links, the server is busy, or its file is gone. */
export type LinkRefusal = 'refused' | 'tooMany' | 'busy' | 'missing'

export type LinkState = LinkTerms | LinkRefusal

const refusals: Readonly<Record<string, LinkRefusal>> = {
  'too-many-attempts': 'tooMany',
  overloaded: 'busy',
  'not-found': 'missing',
}

/** Reads the terms that the server has written into the page. */
export function readTerms(text: string | undefined): LinkState {
  const { refused, expires, ...terms } = JSON.parse(text ?? '{"refused":""}') as Written
  if (refused !== undefined) return refusals[refused] ?? 'refused'
  return { ...terms, expires: new Date(expires) }
}

interface Written extends Omit<LinkTerms, 'expires'> {
  readonly expires: string
  readonly refused?: string
}
