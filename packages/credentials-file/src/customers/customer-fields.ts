import { adviceOf, parseByteSize, parseKeepReplaced } from '@holdfast/core'
import type { CustomersFileError } from './customers-file-error.ts'
import { parseExpireAfter, parseRights, parseUntil } from './customer-terms.ts'
import { toWebhook, type CustomerEntry, type LoginEntry } from './parse-customers.ts'

/** The optional fields of a new customer or login. */
export interface NewCustomerFields {
  /** The most bytes the customer may keep: a number, or text that `parseByteSize` understands. Default: no limit. */
  readonly quota?: number | string
  /** The most files the customer may keep: a number, or its digits. Default: no limit. */
  readonly maxFiles?: number | string
  /** Only for a customer: how long after their last change files expire, as in `30d`. Default: never. */
  readonly expireAfter?: string
  /** Only for a customer: how long what is replaced or deleted is kept, as in `30d`, or `off`. Default: as the service says. */
  readonly keepReplaced?: string
  /** Only for a customer: the receiver of its events, and the secret that signs them; see `parseReceiver` and `parseWebhookSecrets`. */
  readonly webhook?: { readonly url: string; readonly secret: string }
  /** What it may do: a word such as `read-only`, or a list of rights. Default: everything. */
  readonly may?: string | readonly string[]
  /** Only for a login: the last day on which it is good, or a time. Default: no end. */
  readonly until?: string
}

/** New values of the fields of {@link NewCustomerFields}, or `null` to remove one: then its default holds. */
export type ChangedCustomerFields = {
  readonly [Field in keyof NewCustomerFields]?: NewCustomerFields[Field] | null
}

/** The fields that only customers have, and those that only logins have. */
const ofCustomers: readonly (keyof NewCustomerFields)[] = [
  'quota',
  'maxFiles',
  'expireAfter',
  'keepReplaced',
  'webhook',
]
const ofLogins: readonly (keyof NewCustomerFields)[] = ['until']

/** Fields of a customer or login. */
interface ReadFields {
  /** As they are written, in this order. */
  readonly written: object
  /** As they are read again. */
  readonly changed: Partial<CustomerEntry & LoginEntry>
  /** The names of those that are removed. */
  readonly removed: readonly string[]
}

export type Refuse = (problem: string, ...remedies: readonly string[]) => CustomersFileError

/** Reads the fields of a new or changed customer or login. */
export function readFields(
  kind: 'customer' | 'login',
  fields: ChangedCustomerFields,
  refuse: Refuse,
): ReadFields {
  const foreign = kind === 'login' ? ofCustomers : ofLogins
  const misplaced = foreign.find((field) => fields[field] !== undefined)
  if (misplaced !== undefined) {
    const remedy =
      kind === 'login'
        ? 'that of its customer holds for all logins together'
        : 'only further logins end'
    throw refuse(`a ${kind} has no field ${misplaced}`, remedy)
  }
  const { quota, maxFiles, may, until, expireAfter, keepReplaced, webhook } = present(fields)
  const bytes =
    quota === undefined ? undefined : parsed('quota', () => parseByteSize(String(quota)))
  const files = fileCount(maxFiles, refuse)
  const rights = may === undefined ? undefined : parsed('field may', () => parseRights(may))
  const expireAfterMs =
    expireAfter === undefined ? undefined : parsed('expiry', () => parseExpireAfter(expireAfter))
  const keepReplacedMs =
    keepReplaced === undefined
      ? undefined
      : parsed('time for which replaced files are kept', () => parseKeepReplaced(keepReplaced))
  const receiver = webhook && parsed('webhook', () => toWebhook(webhook.url, webhook.secret))
  const endsAtMs = until === undefined ? undefined : parsed('end', () => parseUntil(until))
  if (endsAtMs !== undefined && endsAtMs <= Date.now()) {
    throw refuse('the end is past', 'write a later one, or none')
  }
  return {
    written: present({
      ...{ quota, maxFiles: files, expireAfter, keepReplaced, may: rights && may, until },
      ...{ webhook: webhook?.url, webhookSecret: webhook?.secret },
    }),
    changed: present({
      ...{ quota: bytes, maxFiles: files, expireAfterMs, keepReplacedMs, may: rights, endsAtMs },
      webhook: receiver,
    }),
    removed: Object.entries(fields).flatMap(([field, value]) => {
      // Every right is what an entry has that says nothing of rights.
      const isEvery = field === 'may' && may !== undefined && rights === undefined
      if (value !== null && !isEvery) return []
      return field === 'webhook' ? ['webhook', 'webhookSecret'] : [field]
    }),
  }

  function parsed<Value>(what: string, parse: () => Value): Value {
    try {
      return parse()
    } catch (error) {
      const { problem, remedies } = adviceOf(error)
      throw refuse(`the ${what} ${problem}`, ...remedies)
    }
  }
}

/** How a field is called in an entry, where that differs from its name in the file. */
const parsedNames: Readonly<Record<string, string>> = {
  expireAfter: 'expireAfterMs',
  keepReplaced: 'keepReplacedMs',
  until: 'endsAtMs',
}

/** `entry` with changed fields, and without those that are removed. */
export function changeFields(
  entry: Partial<LoginEntry> & Pick<LoginEntry, 'name'>,
  { changed, removed }: Pick<ReadFields, 'changed' | 'removed'>,
): LoginEntry {
  const gone = new Set(removed.map((field) => parsedNames[field] ?? field))
  const left = Object.entries({ ...entry, ...changed }).filter(([field]) => !gone.has(field))
  return { password: '', ...Object.fromEntries(left), name: entry.name }
}

/** `fields` without those that are `undefined` or `null`. */
function present<Fields extends object>(
  fields: Fields,
): { [Key in keyof Fields]?: NonNullable<Fields[Key]> } {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null),
  ) as never
}

function fileCount(maxFiles: number | string | undefined, refuse: Refuse): number | undefined {
  if (maxFiles === undefined) return undefined
  const digits = String(maxFiles)
  const count = Number(digits)
  if (/^\d+$/.test(digits) && Number.isSafeInteger(count)) return count
  throw refuse('the number of files is not a whole number', 'write digits only, as in 10000')
}
