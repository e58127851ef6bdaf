import { checkFileName } from '../model/file-name.ts'
import { FileServiceError } from '../model/errors.ts'
import { requireCount } from '../model/require.ts'
import type { Customer } from '../model/customer.ts'
import type { LinkBrake } from '../policy/link-brake.ts'
import type { CredentialSource } from '../ports/credential-source.ts'
import type { BlobStore } from '../ports/blob-store.ts'
import { statFile } from './serve-file.ts'
import {
  isLinkSignature,
  readLink,
  sealLink,
  type CarriedTerms,
  type CreateLinkSignature,
} from './link-token.ts'

export interface LinkOptions {
  /** Milliseconds for which the link is good; a part of a second counts as a whole one. Default: an hour, or the most. */
  readonly expiresInMs?: number
  /** Whether a browser is to show the content, where that is safe, instead of saving it. Default: no. */
  readonly inline?: boolean
}

/** A link to one file of one customer. */
export interface Link {
  /** Opens the file for whoever has it. It is no secret of the customer's: nothing else can be made of it. */
  readonly token: string
  readonly expiresAt: Date
}

/** A link as a stranger presents it. */
export interface PresentedLink {
  readonly token: string
  /** The name of the file that is asked for. */
  readonly name: string
  /** Where it comes from, usually an IP address; the brake counts wrong links by it. */
  readonly address?: string
}

/** Whose file a link opens, and how. */
export interface OpenedLink {
  readonly customer: Customer
  readonly name: string
  readonly inline: boolean
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
  { expiresInMs = Math.min(hourMs, policy.maxAgeMs), inline = false }: LinkOptions = {},
): Promise<Link> {
  requireCount('expiresInMs', expiresInMs, 'milliseconds')
  if (expiresInMs < 1 || expiresInMs > policy.maxAgeMs) {
    throw new RangeError(
      `expiresInMs must be from 1 to ${policy.maxAgeMs} milliseconds, not ${expiresInMs}`,
    )
  }
  await statFile(policy.store, customer, name)
  const key = await policy.linkKey(customer.name)
  if (key === undefined) {
    throw new FileServiceError('invalid-credentials', 'The credential source has no such customer')
  }
  const expires = Math.ceil((policy.now() + expiresInMs) / 1000)
  const terms = { customer: customer.name, name, expires, inline }
  const token = sealLink(terms, key, policy.createSignature)
  return { token, expiresAt: new Date(expires * 1000) }
}

/**
 * What a link allows, if it is right: made for this name, with the customer's key of now, and not expired. All that is
 * wrong with a link is refused with one message and after the same steps; it does not reveal which customers exist. A link
 * that was right and has expired does not count for the brake.
 *
 * @throws FileServiceError `link-refused`, `too-many-attempts`
 */
export async function openLink(
  policy: LinkPolicy,
  { token, name, address = '' }: PresentedLink,
): Promise<OpenedLink> {
  const { terms, signature } = readLink(token) ?? noLink
  let customer: Customer | undefined
  const isRight = await policy.brake.attempt(address, async () => {
    const key = await policy.linkKey(terms.customer)
    const credential = await policy.credentials.find(terms.customer)
    const { createSignature } = policy
    const isSigned = isLinkSignature(signature, { ...terms, name }, key ?? noKey, createSignature)
    if (!isSigned || key === undefined || credential === undefined) return false
    const { passwordHash: _, ...found } = credential
    customer = found
    return true
  })
  const isOver = terms.expires * 1000 <= policy.now()
  if (!isRight || isOver || customer === undefined) throw refused()
  checkFileName(name)
  return { customer, name, inline: terms.inline }
}

/** Judged like any other where a token has not the form of one. */
const noLink: { readonly terms: CarriedTerms; readonly signature: string } = {
  terms: { customer: '', expires: 0, inline: false },
  signature: '0'.repeat(64),
}

/** In place of the key that an unknown customer has not. */
const noKey = new Uint8Array(32)

function refused(): FileServiceError {
  return new FileServiceError('link-refused', 'The link is wrong, or has expired')
}
