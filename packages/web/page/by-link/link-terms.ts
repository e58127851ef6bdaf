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
  readonly expires: Date
}

/** `refused` where the link is wrong or has expired; `busy` where there were too many wrong ones. */
export type LinkState = LinkTerms | 'refused' | 'busy'

/** What the server has written into the page. */
export function readTerms(text: string | undefined): LinkState {
  const { refused, expires, ...terms } = JSON.parse(text ?? '{"refused":""}') as Written
  if (refused !== undefined) return refused === 'too-many-attempts' ? 'busy' : 'refused'
  return { ...terms, expires: new Date(expires) }
}

interface Written extends Omit<LinkTerms, 'expires'> {
  readonly expires: string
  readonly refused?: string
}
