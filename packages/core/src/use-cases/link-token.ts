/** What a link allows: these terms, and no others, are signed. */
export interface LinkTerms {
  readonly verb: 'serve' | 'upload'
  readonly customer: string
  /** The name of the one file, or what names begin with. */
  readonly name: string
  /** Whole seconds since 1970. From then on the link is worth nothing. */
  readonly expires: number
  /** All else that the maker of the link has set: lower-case letters and digits, which each verb reads in its own way. */
  readonly wishes: string
}

/** The part of the terms that a token carries; the verb and the name stand beside it, in the address that it opens. */
export type CarriedTerms = Pick<LinkTerms, 'customer' | 'expires' | 'wishes'>

/** A running keyed hash (HMAC with SHA-256); an `Hmac` of `node:crypto` is one. */
export interface LinkSignature {
  update(text: string): unknown
  digest(encoding: 'hex'): string
}

/** Makes a signature with `key`, such as `(key) => createHmac('sha256', key)`. */
export type CreateLinkSignature = (key: Uint8Array) => LinkSignature

/** Expiry, wishes, customer, signature, each in one way only. The customer's name may have dots in it. */
const form = /^([1-9a-z][0-9a-z]{0,10})\.([0-9a-z]{0,99})\.(.+)\.([0-9a-f]{64})$/su

/** The token of `terms`: text that only those who have `key` can make. */
export function sealLink(
  terms: LinkTerms,
  key: Uint8Array,
  createSignature: CreateLinkSignature,
): string {
  return `${wordsOf(terms)}.${sign(terms, key, createSignature)}`
}

/** What `token` says, whoever wrote it; `undefined` if it has not the form of a token. */
export function readLink(
  token: string,
): { readonly terms: CarriedTerms; readonly signature: string } | undefined {
  const [, expires = '', wishes = '', customer = '', signature = ''] = form.exec(token) ?? []
  if (signature === '') return undefined
  return { terms: { customer, expires: parseInt(expires, 36), wishes }, signature }
}

/** Whether `signature` is that of `terms` under `key`, in a time that does not depend on where the two differ. */
export function isLinkSignature(
  signature: string,
  terms: LinkTerms,
  key: Uint8Array,
  createSignature: CreateLinkSignature,
): boolean {
  const expected = sign(terms, key, createSignature)
  let difference = signature.length ^ expected.length
  for (let index = 0; index < expected.length; index++) {
    difference |= signature.charCodeAt(index) ^ expected.charCodeAt(index)
  }
  return difference === 0
}

function wordsOf({ customer, expires, wishes }: CarriedTerms): string {
  return `${expires.toString(36)}.${wishes}.${customer}`
}

/** JSON, since no two lists of strings have the same; with a version and the verb, so that no other text is taken for it. */
function sign(terms: LinkTerms, key: Uint8Array, createSignature: CreateLinkSignature): string {
  const signature = createSignature(key)
  const { verb, name } = terms
  signature.update(JSON.stringify(['holdfast link 1', verb, name, wordsOf(terms)]))
  return signature.digest('hex')
}
