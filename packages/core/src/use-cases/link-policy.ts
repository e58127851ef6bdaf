import type { Customer } from '../model/customer.ts'
import { FileServiceError } from '../model/errors.ts'
import { checkFileName } from '../model/file-name.ts'
import { requireCount } from '../model/require.ts'
import type { LinkBrake } from '../policy/link-brake.ts'
import type { BlobStore } from '../ports/blob-store.ts'
import type { CredentialSource } from '../ports/credential-source.ts'
import { statFile } from './serve-file.ts'

/** A link of one customer. */
export interface Link {
  /** Lets whoever has it do what the link is for. It is no secret of the customer's: nothing else can be made of it. */
  readonly token: string
  readonly expiresAt: Date
}

/** A link as a stranger presents it. */
export interface PresentedLink {
  readonly token: string
  /** The name of the file that the request is about. */
  readonly name: string
  /** Where it comes from, usually an IP address; the brake counts wrong links by it. */
  readonly address?: string
}

/** What links are made and judged by. */
export interface LinkPolicy {
  readonly store: BlobStore
  readonly credentials: CredentialSource
  readonly linkKey: NonNullable<CredentialSource['linkKey']>
  readonly createSignature: CreateLinkSignature
  readonly brake: LinkBrake
  /** The longest time for which a link is good, in milliseconds. */
  readonly maxAgeMs: number
  readonly now: () => number
}

const hourMs = 60 * 60 * 1000

/**
 * For how long a link is to be good: `expiresInMs`, or an hour, or the most.
 * @throws TypeError or RangeError when `expiresInMs` is no number of milliseconds from 1 to the most
 */
export function linkAge(
  { maxAgeMs }: LinkPolicy,
  expiresInMs: number = Math.min(hourMs, maxAgeMs),
): number {
  requireCount('expiresInMs', expiresInMs, 'milliseconds')
  if (expiresInMs >= 1 && expiresInMs <= maxAgeMs) return expiresInMs
  throw new RangeError(`expiresInMs must be from 1 to ${maxAgeMs} milliseconds, not ${expiresInMs}`)
}

/**
 * Signs a link of these terms that is good for `ageMs` milliseconds; a part of a second counts as a whole one.
 * @throws FileServiceError `invalid-credentials` for a customer who is not in the credential source
 */
export async function signLink(
  { linkKey, createSignature, now }: LinkPolicy,
  terms: Omit<LinkTerms, 'expires'>,
  ageMs: number,
): Promise<Link> {
  const key = await linkKey(terms.customer)
  if (key === undefined) {
    throw new FileServiceError('invalid-credentials', 'The credential source has no such customer')
  }
  const expires = Math.ceil((now() + ageMs) / 1000)
  const token = sealLink({ ...terms, expires }, key, createSignature)
  return { token, expiresAt: new Date(expires * 1000) }
}

/**
 * Whose link this is, its options and its expiry, if it is right: made for this verb and this name, with the customer's key of now, and
 * not expired. `signedName` says by the options what of the name is signed. All that is wrong with a link is refused with one
 * message and after the same steps; it does not reveal which customers exist. A link that was right and has expired does not
 * count for the brake.
 *
 * @throws FileServiceError `link-refused`, `too-many-attempts`
 */
export async function judgeLink(
  { brake, linkKey, credentials, createSignature, now }: LinkPolicy,
  verb: LinkTerms['verb'],
  { token, name, address = '' }: PresentedLink,
  signedName: (name: string, linkOptions: string) => string = () => name,
): Promise<{ readonly customer: Customer } & Pick<CarriedTerms, 'linkOptions' | 'expires'>> {
  const { terms, signature } = readLink(token) ?? noLink
  const { linkOptions, expires } = terms
  const signed = { ...terms, verb, name: signedName(name, linkOptions) }
  let customer: Customer | undefined
  const isGood = await brake.attempt(address, async () => {
    const key = await linkKey(terms.customer)
    const credential = await credentials.find(terms.customer)
    const isSigned = isLinkSignature(signature, signed, key ?? noKey, createSignature)
    if (!isSigned || key === undefined || credential === undefined) return 'wrong'
    const { passwordHash: _, ...found } = credential
    customer = found
    return expires * 1000 <= now() ? 'expired' : 'good'
  })
  if (!isGood || customer === undefined) throw linkRefused()
  return { customer, linkOptions, expires }
}

/** Judged like any other where a token has not the form of one. */
const noLink: { readonly terms: CarriedTerms; readonly signature: string } = {
  terms: { customer: '', expires: 0, linkOptions: '' },
  signature: '0'.repeat(64),
}

/** In place of the key that an unknown customer has not. */
const noKey = new Uint8Array(32)

export function linkRefused(): FileServiceError {
  return new FileServiceError('link-refused', 'The link is wrong, or has expired')
}

/** What a link allows: these terms, and no others, are signed. */
interface LinkTerms {
  readonly verb: 'serve' | 'upload'
  readonly customer: string
  /** The name of the one file, or what names begin with. */
  readonly name: string
  /** Whole seconds since 1970. From then on the link is worth nothing. */
  readonly expires: number
  /** All else that the maker of the link has set: lower-case letters and digits, which each verb reads in its own way. */
  readonly linkOptions: string
}

/** The part of the terms that a token carries; the verb and the name stand beside it, in the address that it opens. */
type CarriedTerms = Pick<LinkTerms, 'customer' | 'expires' | 'linkOptions'>

/** A running keyed hash (HMAC with SHA-256); an `Hmac` of `node:crypto` is one. */
export interface LinkSignature {
  update(text: string): unknown
  digest(encoding: 'hex'): string
}

/** Makes a signature with `key`, such as `(key) => createHmac('sha256', key)`. */
export type CreateLinkSignature = (key: Uint8Array) => LinkSignature

/** Expiry, options, customer, signature, each in one way only. The customer's name may have dots in it. */
const form = /^([1-9a-z][0-9a-z]{0,10})\.([0-9a-z]{0,99})\.(.+)\.([0-9a-f]{64})$/su

/** The token of `terms`: text that only those who have `key` can make. */
function sealLink(terms: LinkTerms, key: Uint8Array, createSignature: CreateLinkSignature): string {
  return `${wordsOf(terms)}.${sign(terms, key, createSignature)}`
}

/** What `token` says, whoever wrote it; `undefined` if it has not the form of a token. */
function readLink(
  token: string,
): { readonly terms: CarriedTerms; readonly signature: string } | undefined {
  const [, expires = '', linkOptions = '', customer = '', signature = ''] = form.exec(token) ?? []
  if (signature === '') return undefined
  return { terms: { customer, expires: parseInt(expires, 36), linkOptions }, signature }
}

/** Whether `signature` is that of `terms` under `key`, in a time that does not depend on where the two differ. */
function isLinkSignature(
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

function wordsOf({ customer, expires, linkOptions }: CarriedTerms): string {
  return `${expires.toString(36)}.${linkOptions}.${customer}`
}

/** JSON, since no two lists of strings have the same; with a version and the verb, so that no other text is taken for it. */
function sign(terms: LinkTerms, key: Uint8Array, createSignature: CreateLinkSignature): string {
  const signature = createSignature(key)
  const { verb, name } = terms
  signature.update(JSON.stringify(['holdfast link 1', verb, name, wordsOf(terms)]))
  return signature.digest('hex')
}

export interface LinkOptions {
  /** Milliseconds for which the link is good; a part of a second counts as a whole one. Default: an hour, or the most. */
  readonly expiresInMs?: number
  /** Whether a browser is to show the content, where that is safe, instead of saving it. Default: no. */
  readonly inline?: boolean
}

/** Whose file a link opens, and how. */
export interface OpenedLink {
  readonly customer: Customer
  readonly name: string
  readonly inline: boolean
}

/**
 * Makes a link to the customer's file `name`. Nothing is stored: the link is worth as much as its signature. It opens whatever
 * file has the name when it is used, and ends with the customer's password.
 *
 * @throws TypeError or RangeError when `expiresInMs` is no number of milliseconds from 1 to the most
 * @throws FileServiceError `invalid-file-name`, `not-found`, `store-unavailable`; `invalid-credentials` for a
 *   customer who is not in the credential source
 */
export async function makeLink(
  policy: LinkPolicy,
  customer: Customer,
  name: string,
  { expiresInMs, inline = false }: LinkOptions = {},
): Promise<Link> {
  const ageMs = linkAge(policy, expiresInMs)
  await statFile(policy.store, customer, name)
  const terms = {
    verb: 'serve',
    customer: customer.name,
    name,
    linkOptions: inline ? 'i' : '',
  } as const
  return signLink(policy, terms, ageMs)
}

/**
 * What a link to a file allows, if it is right; see `judgeLink`.
 *
 * @throws FileServiceError `link-refused`, `too-many-attempts`
 */
export async function openLink(policy: LinkPolicy, link: PresentedLink): Promise<OpenedLink> {
  const { customer, linkOptions } = await judgeLink(policy, 'serve', link)
  const { name } = link
  checkFileName(name)
  return { customer, name, inline: linkOptions === 'i' }
}
