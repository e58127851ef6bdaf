import type { Figure } from '../measure/figures.ts'
import { against, atMost, byExecutable, fasterThan, type Aim } from './aim.ts'

const downloads: readonly Aim[] = [
  fasterThan('get-4kib-hot', 'fastify', 3, ['perSecond', 'GET']),
  against('get-4kib-hot', 'rate, against its own `/ping`', { least: 0.6 }, [
    'perSecond',
    'GET',
    'holdfast',
    '/ping',
  ]),
  fasterThan('get-4kib-distinct', 'fastify', 1.5, ['perSecond', 'GET']),
  fasterThan('get-4kib-distinct', 'express', 1.2, ['perSecond', 'GET']),
  against('get-1gib', 'time, against nginx', { most: 1.5 }, ['seconds', 'GET', 'nginx']),
  fasterThan('ranges', 'express', 1.2, ['perSecond', 'GET']),
]

const uploads: readonly Aim[] = [
  fasterThan('upload-4kib', 'fastify', 0.9, ['perSecond', 'form']),
  atMost('upload-4kib', 'CPU of a form', 170, ['cpuMicroseconds', 'form']),
  fasterThan('upload-4kib', 'nginx', 1, ['perSecond', 'PUT']),
  atMost('upload-4kib', 'CPU of a PUT', 150, ['cpuMicroseconds', 'PUT']),
  fasterThan('upload-1mib', 'fastify', 1.2, ['perSecond', 'form']),
  fasterThan('upload-1mib', 'nginx', 1, ['perSecond', 'PUT']),
  atMost('batch', 'CPU of a file', 120, ['cpuMicroseconds', 'batch']),
  against('upload-1gib', 'time of a PUT, against nginx', { most: 1.1 }, [
    'seconds',
    'PUT',
    'nginx',
  ]),
  against('upload-1gib', 'CPU of a PUT, against a form', { most: 0.5 }, [
    'cpuPerGiB',
    'PUT',
    'holdfast',
    'form',
  ]),
  ...['PATCH', 'POST'].map((work) =>
    against('tus-1gib', `time of one ${work} by tus, against a PUT`, { most: 1.15 }, [
      'seconds',
      work,
      'holdfast',
      'PUT',
    ]),
  ),
  against('tus-1gib', 'CPU of one PATCH by tus, against a PUT', { most: 1.15 }, [
    'cpuPerGiB',
    'PATCH',
    'holdfast',
    'PUT',
  ]),
  fasterThan('upload-64-at-once', 'fastify', 1, ['seconds', 'form']),
  atMost('upload-64-at-once', 'CPU of forms', 2.3, ['cpuPerGiB', 'form']),
  {
    ...atMost('upload-64-at-once', 'RSS growth, the worse of forms and PUTs', 64, [
      'growthMiB',
      '',
    ]),
    measured: (find) =>
      Math.max(find('holdfast', 'form', 'growthMiB'), find('holdfast', 'PUT', 'growthMiB')),
  },
]

const overTls: readonly Aim[] = [
  fasterThan('tls-get-4kib-hot', 'fastify', 2, ['perSecond', 'GET']),
  fasterThan('tls-get-1gib', 'fastify', 2, ['seconds', 'GET']),
  against('tls-get-1gib', 'time, against nginx', { most: 1.5 }, ['seconds', 'GET', 'nginx']),
  fasterThan('tls-upload-1gib', 'fastify', 2, ['seconds', 'PUT']),
  against('tls-upload-1gib', 'time of a PUT, against nginx', { most: 1.5 }, [
    'seconds',
    'PUT',
    'nginx',
  ]),
]

const lists: readonly Aim[] = [
  fasterThan('list-1000', 'fastify', 0.8, ['perSecond', 'list']),
  against('list-100000', 'time, against a bare readdir and sort', { most: 2 }, [
    'seconds',
    'list',
    'readdir',
  ]),
  against('list-1000000', 'time, against a bare readdir and sort', { most: 1.5 }, [
    'seconds',
    'list',
    'readdir',
  ]),
  {
    ...atMost('list-1000000', 'first byte, later than a bare readdir and sort', 500, ['ms', '']),
    measured: (find) =>
      find('holdfast', 'list', 'firstByteMs') - find('readdir', 'list', 'firstByteMs'),
  },
  atMost('list-1000000', 'RSS growth', 256, ['growthMiB', 'list']),
  atMost('list-1000000', 'event loop blocked', 50, ['blockedMs', 'list']),
  atMost('pages-1000000', 'next page', 5, ['ms', 'pages']),
  against('pages-1000000', 'time of all pages, against one whole list', { most: 3 }, [
    'seconds',
    'pages',
    'holdfast',
    'list',
  ]),
]

const others: readonly Aim[] = [
  atMost('delete', 'CPU of a deletion', 90, ['cpuMicroseconds', 'DELETE']),
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
  fasterThan('login-1000', 'scrypt', 0.85, ['perSecond', 'first login']),
  against('login-1000', 'time of downloads meanwhile, against those alone', { most: 2 }, [
    'ms',
    'download meanwhile',
    'holdfast',
    'download',
  ]),
  atMost('cold-start', 'first answered `/ping`', 250, ['ms', 'start']),
  byExecutable(atMost('cold-start', 'first answered `/ping`', 250, ['ms', 'start'])),
  ...['GET', 'list'].map((work) =>
    against('workers', `rate of ${work}s with two, rationed, against one`, { least: 1.7 }, [
      'perSecond',
      `${work}, 2 rationed workers`,
      'holdfast',
      `${work}, 1 rationed worker`,
    ]),
  ),
]

const clients: readonly Aim[] = [
  ...aimsForClient('client-small', 'curl in a loop', 3, 'perSecond'),
  ...aimsForClient('client-large', 'curl', 0.9, 'seconds'),
]

/** The executable is what is downloaded to be a client. */
function aimsForClient(scenario: string, other: string, least: number, figure: Figure): Aim[] {
  const aims: Aim[] = [
    ...['put', 'get'].map((verb) => ({
      ...fasterThan(scenario, 'curl', least, [figure, verb]),
      what: `speed of ${verb}, against ${other}`,
    })),
    {
      ...atMost(scenario, 'memory of the client, the worse of put and get', 100, ['peakMiB', '']),
      measured: (find) =>
        Math.max(find('holdfast', 'put', 'peakMiB'), find('holdfast', 'get', 'peakMiB')),
    },
  ]
  return aims.map(byExecutable)
}

const throughMinio: readonly Aim[] = [
  {
    ...fasterThan('minio-64mib', 'minio', 0.9, ['seconds', 'PUT']),
    what: 'speed of uploads, against MinIO itself',
  },
  {
    ...fasterThan('minio-64mib', 'minio', 0.9, ['seconds', 'GET']),
    what: 'speed of downloads, against MinIO itself',
  },
  {
    ...fasterThan('minio-4kib', 'minio', 0.8, ['perSecond', 'GET']),
    what: 'rate, against MinIO itself',
  },
]

/** All of them, in the order of the scenarios. */
export const aims: readonly Aim[] = [
  ...downloads,
  ...uploads,
  ...overTls,
  ...lists,
  ...others,
  ...clients,
  ...throughMinio,
]
