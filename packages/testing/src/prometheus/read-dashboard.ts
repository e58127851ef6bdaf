import { deployedFile } from '../deployed-file.ts'
import { queryPrometheus } from './start-prometheus.ts'

/** What a panel of the dashboard shows at this moment. */
export interface Reading {
  readonly title: string
  readonly unit: string
  /** By the legend of each curve; empty where there is nothing to show. */
  readonly values: Readonly<Record<string, number>>
}

/** A panel of docs/deploy/grafana-dashboard.json that shows something. */
export interface Panel {
  readonly title: string
  readonly description: string
  readonly type: string
  readonly fieldConfig: { readonly defaults: { readonly unit: string } }
  readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[]
}

/** The panels of the dashboard, in order. */
export function dashboardPanels(): readonly Panel[] {
  const dashboard: unknown = JSON.parse(deployedFile('grafana-dashboard.json'))
  const { panels } = dashboard as { readonly panels: readonly Panel[] }
  return panels.filter(({ type }) => type !== 'row')
}

export interface ReadDashboardOptions {
  /** What Prometheus calls the servers. Default: `holdfast`. */
  readonly job?: string
  /** The time that rates are made of; of four scrapes or more, in Grafana. Default: `1m`. */
  readonly window?: string
}

/** What an operator sees who opens the dashboard: asks the Prometheus at `url` what Grafana would. */
export async function readDashboard(
  url: string,
  { job = 'holdfast', window = '1m' }: ReadDashboardOptions = {},
): Promise<readonly Reading[]> {
  return Promise.all(
    dashboardPanels().map(async ({ title, fieldConfig, targets }) => {
      const curves = targets.map(async ({ expr, legendFormat }) => {
        const expression = expr.replaceAll('$__rate_interval', window).replaceAll('$job', job)
        const samples = await queryPrometheus(url, expression)
        return samples.map(({ labels, value }) => [legendOf(legendFormat, labels), value] as const)
      })
      const values = Object.fromEntries((await Promise.all(curves)).flat())
      return { title, unit: fieldConfig.defaults.unit, values }
    }),
  )
}

/** The readings for people, a line each. */
export function printReadings(readings: readonly Reading[]): string {
  return readings
    .map(({ title, values }) => {
      const curves = Object.entries(values).map(([legend, value]) => `${legend} ${short(value)}`)
      return `${title}: ${curves.join(', ') || 'nothing'}\n`
    })
    .join('')
}

function short(value: number): string {
  return Number.isInteger(value) ? `${value}` : `${Number(value.toPrecision(3))}`
}

function legendOf(format: string, labels: Readonly<Record<string, string>>): string {
  return format.replace(/\{\{(\w+)\}\}/g, (_, name: string) => labels[name] ?? '').trim()
}
