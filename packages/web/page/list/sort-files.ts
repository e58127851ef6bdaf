import type { FileDetails } from '@holdfast/client/browser'

export type Column = 'name' | 'size' | 'modified' | 'type'

export interface Order {
  readonly column: Column
  readonly isDescending: boolean
}

type Compare = (one: FileDetails, other: FileDetails) => number

/** `files` in `order`; equal ones by name. Quick where most of them are in order already. */
export function sortFiles(
  files: readonly FileDetails[],
  order: Order,
  language: string,
): FileDetails[] {
  const { compare } = new Intl.Collator(language, { numeric: true })
  const byName: Compare = (one, other) => compare(one.name, other.name)
  const by: Readonly<Record<Column, Compare>> = {
    name: byName,
    size: (one, other) => one.size - other.size,
    modified: (one, other) => compareText(one.modified, other.modified),
    type: (one, other) => compareText(one.type, other.type),
  }
  const first = by[order.column]
  const sign = order.isDescending ? -1 : 1
  return [...files].sort((one, other) => sign * first(one, other) || byName(one, other))
}

const compareText = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0)

/** The order after a click on the head of `column`: what is new and large first, names from A. */
export function nextOrder(order: Order, column: Column): Order {
  if (order.column === column) return { column, isDescending: !order.isDescending }
  return { column, isDescending: column === 'size' || column === 'modified' }
}
