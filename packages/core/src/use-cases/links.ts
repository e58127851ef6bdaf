import { loginName, splitLoginName, type Customer, hasRights } from '../model/customer.ts'
import { FileServiceError } from '../model/errors.ts'
import { checkFileName } from '../model/file-name.ts'
import { requireCount } from '../model/require.ts'
import type { LinkBrake, LinkVerdict } from '../policy/brakes.ts'
import type { RecentGenerations } from '../policy/recent-values.ts'
import type { BlobStore } from '../ports/blob-store.ts'
import type { CredentialSource, Right } from '../ports/credential-source.ts'
import { customerOf, hasEnded } from './authenticate.ts'
import { statFile } from './stored-files.ts'

/** A link of one customer. */
export interface Link {
  /** Everyone who has the token can do what the link allows, and nothing else. It reveals no secret of the customer. */
  readonly token: string
  readonly expiresAt: Date
}

/** A link as an unknown client presents it. */
export interface PresentedLink {
  readonly token: string
  /** The name of the file that the request is about. */
  readonly name: string
  /** The address from which it comes, usually an IP address; the brake counts wrong links by it. */
  readonly address?: string
}

/** What is needed to make and to check links. */
export interface LinkPolicy {
  readonly store: BlobStore
  readonly credentials: CredentialSource
  readonly linkKey: NonNullable<CredentialSource['linkKey']>
  readonly createSignature: CreateLinkSignature
  readonly generations: RecentGenerations
  readonly brake: LinkBrake
  /** The longest time for which a link is valid, in milliseconds. */
  readonly maxAgeMs: number
  readonly now: () => number
}

export interface LinkOptions {
  /**
   * How long the link is valid, in milliseconds, rounded up to whole seconds. Default: an hour, or the longest time if that is
   * shorter.
   */
  readonly expiresInMs?: number
  /** Whether a browser is to show the content instead of saving it, if that is safe. Default: no. */
  readonly inline?: boolean
}

/** The file that a link opens, and how. */
export interface OpenedLink {
  readonly customer: Customer
  readonly name: string
  readonly inline: boolean
}

/**
 * Makes a link to the customer's file `name`. Nothing is stored: only its signature makes a link valid. It opens the file that has
 * the name when the link is used, and becomes invalid when the password of the login that makes it changes, that login ends or loses
 * the rights `link` and `read`, or the customer ends all links.
 *
 * @throws TypeError or RangeError when `expiresInMs` is not a number from 1 to `maxAgeMs`
 * @throws FileServiceError `invalid-file-name`, `not-found`, `store-unavailable`; `invalid-credentials` for a customer whom the
 *   credential source does not know
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
    login: loginName(customer),
    name,
    linkOptions: inline ? 'i' : '',
  } as const
  return signLink(policy, terms, ageMs)
}

/**
 * Checks a link to a file, and resolves with what it opens; see `judgeLink`.
 *
 * @throws FileServiceError `link-refused`, `too-many-attempts`
 */
export async function openLink(policy: LinkPolicy, link: PresentedLink): Promise<OpenedLink> {
  const { customer, linkOptions } = await judgeLink(policy, 'serve', link)
  const { name } = link
  checkFileName(name)
  return { customer, name, inline: linkOptions === 'i' }
}

const hourMs = 60 * 60 * 1000

/**
 * How long a link is valid, in milliseconds. Default of `expiresInMs`: an hour, or `maxAgeMs` if that is shorter.
 * @throws TypeError or RangeError when `expiresInMs` is not a number from 1 to `maxAgeMs`
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
 * Signs a link with these terms that is valid for `ageMs` milliseconds, rounded up to whole seconds.
 * @throws FileServiceError `invalid-credentials` for a customer whom the credential source does not know
 */
export async function signLink(
  { linkKey, createSignature, generations, now }: LinkPolicy,
  terms: Omit<LinkTerms, 'expires'>,
  ageMs: number,
): Promise<Link> {
  const { login } = terms
  const passwordKey = await linkKey(login)
  if (passwordKey === undefined) {
    throw new FileServiceError('invalid-credentials', 'The credential source has no such customer')
  }
  const generation = await generations.present(splitLoginName(login).name)
  const key = keyOfGeneration(passwordKey, generation, createSignature)
  const expires = Math.ceil((now() + ageMs) / 1000)
  const token = sealLink({ ...terms, expires }, key, createSignature)
  return { token, expiresAt: new Date(expires * 1000) }
}

/**
 * Checks a link. It must be made for this verb and this name. It must be signed with the login's key for the present generation of links,
 * or for that of half a second ago. It must not have expired. Its login must still exist, and have the rights to make such a link. Resolves
 * with the link's customer, its options and its expiry.
 * `signedName` returns, by the options, the part of the name that is signed.
 * All wrong links are refused with the same message and after the same steps, so that the answer does not reveal which customers
 * exist. A right link that has expired, or whose login has ended or lost its rights, does not count for the brake.
 *
 * @throws FileServiceError `link-refused`, `too-many-attempts`, `store-unavailable`
 */
export async function judgeLink(
  { brake, linkKey, credentials, createSignature, generations, now }: LinkPolicy,
  verb: LinkTerms['verb'],
  { token, name, address = '' }: PresentedLink,
  signedName: (name: string, linkOptions: string) => string = () => name,
): Promise<{ readonly customer: Customer } & Pick<CarriedTerms, 'linkOptions' | 'expires'>> {
  const { terms, signature } = readLink(token) ?? noLink
  const { linkOptions, expires } = terms
  const signed = { ...terms, verb, name: signedName(name, linkOptions) }
  let customer: Customer | undefined
  const isGood = await brake.attempt(address, async () => {
    const passwordKey = await linkKey(terms.login)
    const credential = await credentials.find(terms.login)
    const owner = splitLoginName(terms.login).name
    const verdictBy = (generation: string): LinkVerdict => {
      const key = keyOfGeneration(passwordKey ?? noKey, generation, createSignature)
      const isSigned = isLinkSignature(signature, signed, key, createSignature)
      if (!isSigned || passwordKey === undefined || credential === undefined) return 'wrong'
      customer = customerOf(credential)
      if (hasEnded(credential, now) || !hasRights(customer, ...rightsOf[verb])) return 'expired'
      return expires * 1000 <= now() ? 'expired' : 'good'
    }
    const verdict = verdictBy(await generations.recent(owner))
    // It may be newer than that generation. An expired link takes the same steps: the time must not show that it was right.
    return verdict === 'good' ? verdict : verdictBy(await generations.present(owner))
  })
  if (!isGood || customer === undefined) throw linkRefused()
  return { customer, linkOptions, expires }
}

/** The rights that a login needs to make a link, and must keep while the link is used. */
export const rightsOf: Readonly<Record<LinkTerms['verb'], readonly Right[]>> = {
  serve: ['link', 'read'],
  upload: ['link', 'create'],
}

/** Checked in place of a token without the form of one, so that the steps are the same. */
const noLink: { readonly terms: CarriedTerms; readonly signature: string } = {
  terms: { login: '', expires: 0, linkOptions: '' },
  signature: '0'.repeat(64),
}

/** Used for an unknown customer, who has no key. */
const noKey = new Uint8Array(32)

/**
 * The key for links of a generation. The first one has the key that follows from the password alone. It computes the other one in any case:
 * the time must not show whether a customer, who exists then, has ended links.
 */
function keyOfGeneration(
  passwordKey: Uint8Array,
  generation: string,
  createSignature: CreateLinkSignature,
): Uint8Array {
  const signature = createSignature(passwordKey)
  // The text that a link signs is JSON, which does not begin so.
  signature.update(`holdfast links ${generation}`)
  const hex = signature.digest('hex')
  if (generation === '') return passwordKey
  return Uint8Array.from({ length: hex.length / 2 }, (_, at) =>
    parseInt(hex.slice(2 * at, 2 * at + 2), 16),
  )
}

export function linkRefused(): FileServiceError {
  return new FileServiceError('link-refused', 'The link is wrong, or has expired')
}

/** What a link allows. All of these terms are signed. */
interface LinkTerms {
  readonly verb: 'serve' | 'upload'
  /** Who has made the link; see `loginName`. */
  readonly login: string
  /** The name of the only file, or the prefix of names. */
  readonly name: string
  /** When the link expires, in whole seconds since 1970. */
  readonly expires: number
  /** All other settings of the link, in lower-case letters and digits; each verb has its own form of them. */
  readonly linkOptions: string
}

/** The terms that a token contains; the verb and the name are in the rest of the link's URL. */
type CarriedTerms = Pick<LinkTerms, 'login' | 'expires' | 'linkOptions'>

/** A running keyed hash (HMAC with SHA-256); an `Hmac` of `node:crypto` is one. */
export interface LinkSignature {
  update(text: string): unknown
  digest(encoding: 'hex'): string
}

/** Makes a signature with `key`, such as `(key) => createHmac('sha256', key)`. */
export type CreateLinkSignature = (key: Uint8Array) => LinkSignature

/** Expiry, options, login, signature; for each value there is only one text. The login's name may contain dots. */
const form = /^([1-9a-z][0-9a-z]{0,10})\.([0-9a-z]{0,99})\.(.+)\.([0-9a-f]{64})$/su

/** The token of `terms`. It can be made only with `key`. */
function sealLink(terms: LinkTerms, key: Uint8Array, createSignature: CreateLinkSignature): string {
  return `${wordsOf(terms)}.${sign(terms, key, createSignature)}`
}

/** Reads `token` without checking its signature; `undefined` if it does not have the form of a token. */
function readLink(
  token: string,
): { readonly terms: CarriedTerms; readonly signature: string } | undefined {
  const [, expires = '', linkOptions = '', login = '', signature = ''] = form.exec(token) ?? []
  if (signature === '') return undefined
  return { terms: { login, expires: parseInt(expires, 36), linkOptions }, signature }
}

/** Whether `signature` is that of `terms` with `key`. Its time does not depend on where the signatures differ. */
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

function wordsOf({ login, expires, linkOptions }: CarriedTerms): string {
  return `${expires.toString(36)}.${linkOptions}.${login}`
}

/** Signs JSON, since each list of strings has its own. Version and verb are included, so that no other signed text equals it. */
function sign(terms: LinkTerms, key: Uint8Array, createSignature: CreateLinkSignature): string {
  const signature = createSignature(key)
  const { verb, name } = terms
  signature.update(JSON.stringify(['holdfast link 1', verb, name, wordsOf(terms)]))
  return signature.digest('hex')
}
