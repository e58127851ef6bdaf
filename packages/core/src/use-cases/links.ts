import type { Customer } from '../model/customer.ts'
import { checkFileName } from '../model/file-name.ts'
import {
  judgeLink,
  linkAge,
  signLink,
  type Link,
  type LinkPolicy,
  type PresentedLink,
} from './link-policy.ts'
import { statFile } from './serve-file.ts'

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
  const terms = { verb: 'serve', customer: customer.name, name, wishes: inline ? 'i' : '' } as const
  return signLink(policy, terms, ageMs)
}

/**
 * What a link to a file allows, if it is right; see `judgeLink`.
 *
 * @throws FileServiceError `link-refused`, `too-many-attempts`
 */
export async function openLink(policy: LinkPolicy, link: PresentedLink): Promise<OpenedLink> {
  const { customer, wishes } = await judgeLink(policy, 'serve', link)
  const { name } = link
  checkFileName(name)
  return { customer, name, inline: wishes === 'i' }
}
