/** What a link to upload allows, as the server has written it into the page. */
export interface LinkTerms {
  /** Whose link it is. */
  readonly customer: string
  /** The name of the one file, or what names begin with. */
  readonly name: string
  readonly isPrefix: boolean
  readonly maxFiles: number
  /** Bytes; `undefined` for no limit. */
  readonly maxSize?: number
  readonly replace: boolean
  /** Whether the link stores no new file. */
  readonly isUsedUp: boolean
  readonly expires: Date
}

/** Why a link does nothing: it is wrong or has expired, there were too many wrong ones, the server is busy, or its file is gone. */
export type Refused = 'refused' | 'tooMany' | 'busy' | 'missing'

export type LinkState = LinkTerms | Refused

const refusals: Readonly<Record<string, Refused>> = {
  'too-many-attempts': 'tooMany',
  overloaded: 'busy',
  'not-found': 'missing',
}

/** What the server has written into the page. */
export function readTerms(text: string | undefined): LinkState {
  const { refused, expires, ...terms } = JSON.parse(text ?? '{"refused":""}') as Written
  if (refused !== undefined) return refusals[refused] ?? 'refused'
  return { ...terms, expires: new Date(expires) }
}

interface Written extends Omit<LinkTerms, 'expires'> {
  readonly expires: string
  readonly refused?: string
}
