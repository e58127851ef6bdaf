import { formatBytes } from '@holdfast/core'
import { visible } from '@holdfast/server/visible'
import { shareOf, type CustomerUsage } from './customer-usages.ts'

const columns = ['files', 'size', 'unfinished', 'quota', 'used', 'customer'] as const

type Row = Readonly<Record<(typeof columns)[number], string>>

const heading: Row = {
  files: 'files',
  size: 'size',
  unfinished: 'unfinished',
  quota: 'quota',
  used: 'used',
  customer: 'customer',
}

/** `usages` as lines of aligned columns, with the sum of several. Names come last, since their width varies. */
export function usageTable(usages: readonly CustomerUsage[]): readonly string[] {
  const rows = usages.map(toRow)
  const lines = usages.length > 1 ? [heading, ...rows, sumOf(usages)] : [heading, ...rows]
  const hasUnfinished = usages.some(({ unfinished }) => unfinished.uploads > 0)
  const shown = columns.filter((column) => column !== 'unfinished' || hasUnfinished)
  const widths = new Map(
    shown.map((column) => [column, Math.max(...lines.map((line) => line[column].length))]),
  )
  return lines.map((line) =>
    shown
      .map((column) =>
        column === 'customer' ? line[column] : line[column].padStart(widths.get(column) ?? 0),
      )
      .join('  '),
  )
}

function toRow(usage: CustomerUsage): Row {
  const { customer, files, bytes, unfinished, quota, maxFiles, isListed } = usage
  return {
    files: maxFiles === undefined ? `${files}` : `${files}/${maxFiles}`,
    size: formatBytes(bytes),
    unfinished: unfinishedText(unfinished),
    quota: quota === undefined ? '-' : formatBytes(quota),
    used: percent(shareOf(usage)),
    customer: isListed ? visible(customer) : `${visible(customer)} (not in the customers file)`,
  }
}

function unfinishedText({ uploads, bytes }: CustomerUsage['unfinished']): string {
  return uploads === 0 ? '-' : `${uploads} of ${formatBytes(bytes)}`
}

function percent(share: number | undefined): string {
  if (share === undefined) return '-'
  if (share > 0 && share < 0.01) return '<1%'
  // Rounded down: 100% means that there is no room.
  return `${Math.floor(share * 100)}%`
}

function sumOf(usages: readonly CustomerUsage[]): Row {
  const sum = (of: (usage: CustomerUsage) => number) =>
    usages.reduce((total, usage) => total + of(usage), 0)
  return {
    files: `${sum(({ files }) => files)}`,
    size: formatBytes(sum(({ bytes }) => bytes)),
    unfinished: unfinishedText({
      uploads: sum(({ unfinished }) => unfinished.uploads),
      bytes: sum(({ unfinished }) => unfinished.bytes),
    }),
    quota: '',
    used: '',
    customer: `${usages.length} customers in all`,
  }
}
