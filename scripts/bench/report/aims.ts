import type { Figure } from '../measure/figures.ts'
import type { Row } from '../measure/measure-lanes.ts'

/** Something that holdfast is to reach in a scenario. */
export interface Aim {
  readonly scenario: string
  readonly what: string
  /** The bound that is to be kept: at least, or at most, so much. */
  readonly least?: number
  readonly most?: number
  readonly unit: '×' | 'MiB' | 'ms' | '%'
  /** What it is to be held against; NaN where something was not measured. */
  measured(find: Find): number
}

/** Finds what a subject has brought with some work; NaN where it has not. */
export type Find = (subject: string, work: string, figure: Figure) => number

/** Finds figures in `rows`. */
export function finderIn(rows: readonly Row[]): Find {
  return (subject, work, figure) =>
    rows.find((row) => row.subject === subject && row.work === work)?.figures[figure] ?? NaN
}

/** Whether the bound is kept; `undefined` where nothing was measured. */
export function isReached({ least = -Infinity, most = Infinity }: Aim, value: number) {
  return Number.isNaN(value) ? undefined : value >= least && value <= most
}

const ratio = (
  scenario: string,
  what: string,
  bound: { readonly least: number } | { readonly most: number },
  measured: Aim['measured'],
): Aim => ({ scenario, what, ...bound, unit: '×', measured })

/** All of them, in the order of the scenarios. */
export const aims: readonly Aim[] = [
  ratio('get-4kib-hot', 'rate, against fastify', { least: 3 }, (find) => {
    return find('holdfast', 'GET', 'perSecond') / find('fastify', 'GET', 'perSecond')
  }),
  ratio('get-4kib-hot', 'rate, against its own `/ping`', { least: 0.6 }, (find) => {
    return find('holdfast', 'GET', 'perSecond') / find('holdfast', '/ping', 'perSecond')
  }),
  ratio('get-4kib-distinct', 'rate, against fastify', { least: 1.5 }, (find) => {
    return find('holdfast', 'GET', 'perSecond') / find('fastify', 'GET', 'perSecond')
  }),
  ratio('get-1gib', 'time, against nginx', { most: 1.5 }, (find) => {
    return find('holdfast', 'GET', 'seconds') / find('nginx', 'GET', 'seconds')
  }),
  ratio('upload-4kib', 'rate of forms, against fastify', { least: 1 }, (find) => {
    return find('holdfast', 'form', 'perSecond') / find('fastify', 'form', 'perSecond')
  }),
  ratio('upload-4kib', 'rate of PUTs, against nginx', { least: 1 }, (find) => {
    return find('holdfast', 'PUT', 'perSecond') / find('nginx', 'PUT', 'perSecond')
  }),
  ratio('batch', 'rate of files, against single forms', { least: 3 }, (find) => {
    return find('holdfast', 'batch', 'perSecond') / find('holdfast', 'form', 'perSecond')
  }),
  ratio('upload-1gib', 'time of a PUT, against nginx', { most: 1.1 }, (find) => {
    return find('holdfast', 'PUT', 'seconds') / find('nginx', 'PUT', 'seconds')
  }),
  ratio('upload-1gib', 'CPU of a PUT, against a form', { most: 0.5 }, (find) => {
    return find('holdfast', 'PUT', 'cpuPerGiB') / find('holdfast', 'form', 'cpuPerGiB')
  }),
  {
    scenario: 'upload-64-at-once',
    what: 'RSS growth, the worse of forms and PUTs',
    most: 64,
    unit: 'MiB',
    measured: (find) =>
      Math.max(find('holdfast', 'form', 'growthMiB'), find('holdfast', 'PUT', 'growthMiB')),
  },
  {
    scenario: 'list-1000000',
    what: 'first byte, later than a bare readdir and sort',
    most: 500,
    unit: 'ms',
    measured: (find) =>
      find('holdfast', 'list', 'firstByteMs') - find('readdir', 'list', 'firstByteMs'),
  },
  {
    scenario: 'list-1000000',
    what: 'RSS growth',
    most: 256,
    unit: 'MiB',
    measured: (find) => find('holdfast', 'list', 'growthMiB'),
  },
  {
    scenario: 'list-1000000',
    what: 'event loop blocked',
    most: 50,
    unit: 'ms',
    measured: (find) => find('holdfast', 'list', 'blockedMs'),
  },
  {
    scenario: 'authentication',
    what: 'CPU of authentication, as a part of `/ping`',
    most: 5,
    unit: '%',
    measured: (find) => {
      const cpu = (path: string) => find('application', path, 'cpuMicroseconds')
      const added = cpu('/authenticated') - cpu('/plain')
      return (added / find('holdfast', '/ping', 'cpuMicroseconds')) * 100
    },
  },
  {
    scenario: 'cold-start',
    what: 'first answered `/ping`',
    most: 400,
    unit: 'ms',
    measured: (find) => find('holdfast', 'start', 'ms'),
  },
  ratio('workers', 'rate of GETs with two, rationed, against one', { least: 1.7 }, (find) => {
    const rate = (work: string) => find('holdfast', work, 'perSecond')
    return rate('GET, 2 rationed workers') / rate('GET, 1 rationed worker')
  }),
  ratio('workers', 'rate of lists with two, rationed, against one', { least: 1.7 }, (find) => {
    const rate = (work: string) => find('holdfast', work, 'perSecond')
    return rate('list, 2 rationed workers') / rate('list, 1 rationed worker')
  }),
  ratio('minio-64mib', 'speed of uploads, against MinIO itself', { least: 0.9 }, (find) => {
    return find('minio', 'PUT', 'seconds') / find('holdfast', 'PUT', 'seconds')
  }),
  ratio('minio-64mib', 'speed of downloads, against MinIO itself', { least: 0.9 }, (find) => {
    return find('minio', 'GET', 'seconds') / find('holdfast', 'GET', 'seconds')
  }),
  ratio('minio-4kib', 'rate, against MinIO itself', { least: 0.8 }, (find) => {
    return find('holdfast', 'GET', 'perSecond') / find('minio', 'GET', 'perSecond')
  }),
]
