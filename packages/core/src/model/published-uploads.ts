/** How many published uploads of a customer's own stay known, how many by each link, and how many by all links of a customer. */
export const mostPublished = { own: 1000, byLink: 100, byLinks: 1000 } as const

/**
 * The published uploads that a store still knows of, as far as this process has met them. An upload that is published stays so: a list of
 * unfinished uploads need not read it again.
 */
export interface PublishedUploads {
  has(id: string): boolean
  /**
   * Notes a published upload. Returns the ids of those that the store has to forget for it, if there are more than
   * {@link mostPublished}: the oldest of the customer's own, or of its link's. Links never displace the customer's own.
   */
  add(customer: string, upload: PublishedUpload): string[]
}

export interface PublishedUpload {
  readonly id: string
  /** Which link has let it in, as the plan has it; `undefined` for the customer's own. */
  readonly link: string | undefined
  /** The time of its last change, in milliseconds since 1970. */
  readonly changedAt: number
}

/** A customer's, by link, each oldest first; under `undefined` the own ones. */
type Entries = Map<string | undefined, PublishedUpload[]>

/** {@link PublishedUploads} of at most `limit` uploads: beyond that it no longer knows of the customers met longest ago. */
export function createPublishedUploads(limit = 100_000): PublishedUploads {
  const customers = new Map<string, Entries>()
  const known = new Set<string>()

  const dropOldestCustomer = (): void => {
    const [customer = '', entries] = customers.entries().next().value ?? []
    for (const { id } of [...(entries?.values() ?? [])].flat()) known.delete(id)
    customers.delete(customer)
  }
  const dropOldest = (entries: Entries, link: string | undefined): string[] => {
    const ofLink = entries.get(link)
    const oldest = ofLink?.shift()
    if (ofLink?.length === 0) entries.delete(link)
    if (oldest) known.delete(oldest.id)
    return oldest ? [oldest.id] : []
  }

  return {
    has: (id) => known.has(id),
    add(customer, upload) {
      const { id, link } = upload
      if (known.has(id)) return []
      const entries: Entries = customers.get(customer) ?? new Map()
      customers.delete(customer)
      customers.set(customer, entries)
      const ofLink = entries.get(link) ?? []
      insert(ofLink, upload)
      entries.set(link, ofLink)
      known.add(id)
      while (known.size > limit && customers.size > 1) dropOldestCustomer()
      if (link === undefined)
        return ofLink.length > mostPublished.own ? dropOldest(entries, link) : []
      if (ofLink.length > mostPublished.byLink) return dropOldest(entries, link)
      return countByLinks(entries) > mostPublished.byLinks
        ? dropOldest(entries, oldestLink(entries))
        : []
    },
  }
}

/** Mostly at the end. */
function insert(entries: PublishedUpload[], entry: PublishedUpload): void {
  const at = entries.findLastIndex(({ changedAt }) => changedAt <= entry.changedAt) + 1
  entries.splice(at, 0, entry)
}

function countByLinks(entries: Entries): number {
  let count = 0
  for (const [link, ofLink] of entries) if (link !== undefined) count += ofLink.length
  return count
}

function oldestLink(entries: Entries): string | undefined {
  const firsts = [...entries.values()].flatMap(([first]) =>
    first?.link === undefined ? [] : first,
  )
  return firsts.reduce((one, other) => (other.changedAt < one.changedAt ? other : one)).link
}
