import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deployedFile, deployFolder } from './documents.ts'
import { findFreePort } from './machine.ts'
import { until } from './until.ts'

/** The tool that comes with Prometheus. */
export const promtool = 'promtool'

/** How often it scrapes, in seconds. */
export const scrapeSeconds = 1

export interface RunningPrometheus {
  /** Such as `http://127.0.0.1:41233`. */
  readonly url: string
  /** The result of a query now. */
  query(expression: string): Promise<readonly Sample[]>
  stop(): Promise<void>
}

export interface Sample {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/**
 * Starts the real Prometheus with the very file of docs/deploy, but for the address of the admin port, `target`, and a
 * shorter interval.
 */
export async function startPrometheus(target: string): Promise<RunningPrometheus> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-prometheus-'))
  const config = join(folder, 'prometheus.yml')
  const interval = `_interval: ${scrapeSeconds}s`
  await writeFile(
    config,
    deployedFile('prometheus.yml', {
      '127.0.0.1:3001': target,
      '_interval: 15s': interval,
      '- alerts.yml': `- ${join(deployFolder, 'alerts.yml')}`,
    }),
  )
  // It cannot say which port it took.
  const url = `http://127.0.0.1:${await findFreePort()}`
  const child = spawn(
    'prometheus',
    [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=${new URL(url).host}`,
      '--log.level=warn',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  )
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
  const ended = once(child, 'close')
  const stop = async () => {
    child.kill('SIGTERM')
    await ended
    await rm(folder, { recursive: true })
  }
  const isReady = () =>
    fetch(`${url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    )
  try {
    await until(() => `Prometheus is ready; it said: ${said}`, isReady, 60_000)
  } catch (error) {
    await stop()
    throw error
  }
  return { url, query: (expression) => queryPrometheus(url, expression), stop }
}

/** The samples that an expression has at this moment. Rejects where Prometheus does not understand it. */
export async function queryPrometheus(url: string, expression: string): Promise<readonly Sample[]> {
  const answer = await fetch(`${url}/api/v1/query`, {
    method: 'POST',
    body: new URLSearchParams({ query: expression }),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`Prometheus refuses ${expression}: ${text}`)
  const { data } = JSON.parse(text) as {
    readonly data: {
      readonly result: readonly {
        readonly metric: Readonly<Record<string, string>>
        readonly value: readonly [number, string]
      }[]
    }
  }
  return data.result.map(({ metric, value }) => ({ labels: metric, value: Number(value[1]) }))
}

/** What a panel of the dashboard shows at this moment. */
export interface Reading {
  readonly title: string
  readonly unit: string
  /** By the legend of each curve; empty where there is nothing to show. */
  readonly values: Readonly<Record<string, number>>
}

/** A panel of docs/deploy/grafana-dashboard.json that shows something. */
interface Panel {
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

interface ReadDashboardOptions {
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
