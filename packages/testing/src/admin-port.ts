import { equal, match, notEqual } from 'node:assert/strict'
import type { HoldfastServer } from './holdfast.ts'
import { until } from './until.ts'

/** The admin port of a server, as a balancer sees it. */
export interface AdminPort {
  readonly url: string
  /** What `/ready` says now. */
  ready(): Promise<ReadinessReport>
  /** Waits until `/ready` is green. */
  turnsGreen(): Promise<void>
  /** Waits until `/ready` is red, and resolves with what is wrong, by the names of checks. */
  turnsRed(): Promise<Readonly<Record<string, string | undefined>>>
}

/** What `/ready` says: `why` of each check that is not ok. */
export interface ReadinessReport {
  readonly ready: boolean
  readonly checks: readonly {
    readonly name: string
    readonly ok: boolean
    readonly why?: string
    readonly [detail: string]: unknown
  }[]
}

/** Of a server that was started with `--admin-port 0`. */
export async function adminPortOf(server: HoldfastServer): Promise<AdminPort> {
  const url = await adminUrl(server)
  let last: ReadinessReport | undefined
  const ready = async () => {
    const response = await fetch(`${url}/ready`)
    last = (await response.json()) as ReadinessReport
    equal(response.status, last.ready ? 200 : 503)
    return last
  }
  const turns = (colour: string, isReady: boolean) =>
    until(
      () => `/ready turns ${colour}; it said ${JSON.stringify(last)}`,
      async () => (await ready()).ready === isReady,
      30_000,
    )
  return {
    url,
    ready,
    turnsGreen: () => turns('green', true),
    async turnsRed() {
      await turns('red', false)
      const failed = last?.checks.filter(({ ok }) => !ok) ?? []
      return Object.fromEntries(failed.map(({ name, why }) => [name, why]))
    },
  }
}

/** The metrics of a server, as Prometheus gets them. */
export interface Scrape {
  /** The type of each metric, by its name. */
  readonly types: ReadonlyMap<string, string>
  /** The samples of a metric; of a histogram those of its buckets, its sum and its count. */
  readonly samples: (metric: string) => readonly Sample[]
  /** The sum of the samples of this very name that have all these labels; `undefined` where there is none. */
  readonly value: (name: string, labels?: Readonly<Record<string, string>>) => number | undefined
}

interface Sample {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

interface NamedSample extends Sample {
  readonly name: string
}

/** The address of the admin port of a server. */
export async function adminUrl(server: HoldfastServer): Promise<string> {
  const { admin } = await server.logged('holdfast listens on ')
  return String(admin)
}

/** Asks a server with an admin port for its metrics. */
export async function scrape(server: HoldfastServer): Promise<Scrape> {
  const answer = await fetch(`${await adminUrl(server)}/metrics`)
  equal(answer.status, 200)
  const type = answer.headers.get('content-type') ?? ''
  match(type, /^text\/plain; version=0\.0\.4; charset=utf-8/)
  const lines = (await answer.text()).split('\n')
  const types = new Map(
    lines
      .filter((line) => line.startsWith('# TYPE '))
      .map((line) => line.split(' ').slice(2))
      .map(([name = '', type = '']) => [name, type]),
  )
  const all = lines.filter((line) => line !== '' && !line.startsWith('#')).map(sampleOf)
  return {
    types,
    samples(metric) {
      const suffixes = types.get(metric) === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']
      const names = suffixes.map((suffix) => metric + suffix)
      return all.filter(({ name }) => names.includes(name))
    },
    value(name, labels = {}) {
      const found = all.filter(
        (sample) =>
          sample.name === name &&
          Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
      )
      return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0)
    },
  }
}

function sampleOf(line: string): NamedSample {
  const [, name = '', labels = '', value = ''] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
  const pairs = [...labels.matchAll(/(\w+)="([^"]*)"/g)]
  notEqual(name, '', line)
  return {
    name,
    labels: Object.fromEntries(pairs.map(([, label = '', text = '']) => [label, text])),
    value: Number(value),
  }
}
