import type { HoldfastServer } from '@holdfast/testing'
import { expect } from 'chai'
import type { Sample } from './start-prometheus.ts'

/** What a server tells Prometheus. */
export interface Scrape {
  /** The type of each metric, by its name. */
  readonly types: ReadonlyMap<string, string>
  /** The samples of a metric; of a histogram those of its buckets, its sum and its count. */
  readonly samples: (metric: string) => readonly Sample[]
  /** The sum of the samples of this very name that have all these labels; `undefined` where there is none. */
  readonly value: (name: string, labels?: Readonly<Record<string, string>>) => number | undefined
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
  expect(answer.status).to.equal(200)
  expect(answer.headers.get('content-type')).to.match(
    /^text\/plain; version=0\.0\.4; charset=utf-8/,
  )
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
  expect(name, line).not.to.equal('')
  return {
    name,
    labels: Object.fromEntries(pairs.map(([, label = '', text = '']) => [label, text])),
    value: Number(value),
  }
}
