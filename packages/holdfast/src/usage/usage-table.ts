import { formatBytes } from '@holdfast/core'
import { shareOf, type CustomerUsage } from './customer-usages.ts'
import { visible } from '@holdfast/server/visible'

const heading = ['files', 'size', 'quota', 'used', 'customer'] as const

/** `usages` as lines of aligned columns, with the sum of several. Names come last, since their width varies. */
export function usageTable(usages: readonly CustomerUsage[]): readonly string[] {
  const rows = usages.map(toRow)
  const lines = usages.length > 1 ? [heading, ...rows, sumOf(usages)] : [heading, ...rows]
  const widths = heading.map((_, column) =>
    Math.max(...lines.map((cells) => cells[column]?.length ?? 0)),
  )
  return lines.map((cells) =>
    cells
      .map((cell, column) => (column < 4 ? cell.padStart(widths[column] ?? 0) : cell))
      .join('  '),
  )
}

function toRow(usage: CustomerUsage): readonly string[] {
  const { customer, files, bytes, quota, maxFiles, isListed } = usage
  const count = maxFiles === undefined ? `${files}` : `${files}/${maxFiles}`
  const limit = quota === undefined ? '-' : formatBytes(quota)
  const name = isListed ? visible(customer) : `${visible(customer)} (not in the customers file)`
  return [count, formatBytes(bytes), limit, percent(shareOf(usage)), name]
}

function percent(share: number | undefined): string {
  if (share === undefined) return '-'
  if (share > 0 && share < 0.01) return '<1%'
  // Rounded down: 100% means that there is no room.
  return `${Math.floor(share * 100)}%`
}

function sumOf(usages: readonly CustomerUsage[]): readonly string[] {
  const files = usages.reduce((sum, usage) => sum + usage.files, 0)
  const bytes = usages.reduce((sum, usage) => sum + usage.bytes, 0)
  return [`${files}`, formatBytes(bytes), '', '', `${usages.length} customers in all`]
}
