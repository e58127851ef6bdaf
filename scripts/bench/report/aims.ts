import { against, atMost, byExecutable, fasterThan, type Aim } from './aim.ts'

const downloads: readonly Aim[] = [
  against('get-4kib-hot', 'rate of `/ping`, against bare http', { least: 0.75 }, [
    'perSecond',
    '/ping',
    'bare http',
  ]),
  fasterThan('get-4kib-hot', 'fastify', 3, ['perSecond', 'GET']),
  fasterThan('get-4kib-hot', 'bare http', 0.55, ['perSecond', 'GET']),
  fasterThan('get-4kib-distinct', 'express', 3, ['perSecond', 'GET']),
  fasterThan('get-1mib', 'express', 1.5, ['perSecond', 'GET']),
  fasterThan('ranges', 'express', 1.3, ['perSecond', 'GET']),
  against('get-1gib', 'time, against nginx', { most: 1.5 }, ['seconds', 'GET', 'nginx']),
]

const smallUploads: readonly Aim[] = [
  against('upload-4kib', 'CPU of a PUT, against disk+http', { most: 1.35 }, [
    'cpuMicroseconds',
    'PUT',
    'disk+http',
  ]),
  fasterThan('upload-4kib', 'disk+http', 0.8, ['perSecond', 'PUT']),
  against('upload-4kib', 'CPU of a form, against disk+http', { most: 1.5 }, [
    'cpuMicroseconds',
    'form',
    'disk+http',
  ]),
  fasterThan('upload-4kib', 'fastify', 0.95, ['perSecond', 'form']),
  against('batch', 'CPU of a file, against disk', { most: 1.2 }, [
    'cpuMicroseconds',
    'batch',
    'disk',
  ]),
  against('delete', 'CPU of a deletion, against disk+http', { most: 1.5 }, [
    'cpuMicroseconds',
    'DELETE',
    'disk+http',
  ]),
  fasterThan('upload-1mib', 'fastify', 1, ['perSecond', 'form']),
  fasterThan('upload-1mib', 'disk+http', 0.9, ['perSecond', 'PUT']),
]

const largeUploads: readonly Aim[] = [
  fasterThan('upload-64-at-once', 'fastify', 1, ['seconds', 'form']),
  against('upload-64-at-once', 'CPU of forms, against fastify', { most: 1.1 }, [
    'cpuPerGiB',
    'form',
    'fastify',
  ]),
  {
    ...atMost('upload-64-at-once', 'RSS growth, the worse of forms and PUTs', 64, [
      'growthMiB',
      '',
    ]),
    measured: (find) =>
      Math.max(find('holdfast', 'form', 'growthMiB'), find('holdfast', 'PUT', 'growthMiB')),
  },
  against('upload-1gib', 'CPU of a form, against a PUT', { most: 1.15 }, [
    'cpuPerGiB',
    'form',
    'holdfast',
    'PUT',
  ]),
  against('upload-1gib', 'time of a PUT, against nginx', { most: 1.1 }, [
    'seconds',
    'PUT',
    'nginx',
  ]),
  against('tus-1gib', 'time of one PATCH by tus, against a PUT', { most: 1.1 }, [
    'seconds',
    'PATCH',
    'holdfast',
    'PUT',
  ]),
]

const overTls: readonly Aim[] = [
  fasterThan('tls-get-4kib-hot', 'bare http', 0.6, ['perSecond', 'GET']),
  fasterThan('tls-get-1gib', 'fastify', 2, ['seconds', 'GET']),
  fasterThan('tls-upload-1gib', 'fastify', 2, ['seconds', 'PUT']),
]

const lists: readonly Aim[] = [
  fasterThan('list-1000', 'fastify', 1.2, ['perSecond', 'list']),
  against('list-100000', 'time, against a bare readdir and sort', { most: 1.8 }, [
    'seconds',
    'list',
    'readdir',
  ]),
  against('list-1000000', 'time, against a bare readdir and sort', { most: 1.4 }, [
    'seconds',
    'list',
    'readdir',
  ]),
  atMost('list-1000000', 'RSS growth', 256, ['growthMiB', 'list']),
  against('pages-1000000', 'time of all pages, against one whole list', { most: 3 }, [
    'seconds',
    'pages',
    'holdfast',
    'list',
  ]),
]

const others: readonly Aim[] = [
  fasterThan('login-1000', 'scrypt', 0.85, ['perSecond', 'first login']),
  against('login-1000', 'time of downloads meanwhile, against those alone', { most: 2 }, [
    'ms',
    'download meanwhile',
    'holdfast',
    'download',
  ]),
  against('cold-start', 'first answer, against an empty fastify application', { most: 1.25 }, [
    'ms',
    'start',
    'fastify-empty',
  ]),
  ...['GET', 'list'].map((work) =>
    against('workers', `rate of ${work}s with two, rationed, against one`, { least: 1.7 }, [
      'perSecond',
      `${work}, 2 rationed workers`,
      'holdfast',
      `${work}, 1 rationed worker`,
    ]),
  ),
]

const byClients: readonly Aim[] = [
  fasterThan('client-small', 'curl --parallel', 0.9, ['perSecond', 'get']),
  ...['put', 'get'].map((verb) => fasterThan('client-large', 'curl', 0.9, ['seconds', verb])),
  {
    ...atMost('client-large', 'memory of the client, the worse of put and get', 100, [
      'peakMiB',
      '',
    ]),
    measured: (find) =>
      Math.max(find('holdfast', 'put', 'peakMiB'), find('holdfast', 'get', 'peakMiB')),
  },
]

/** The executable is what is downloaded to be a client. */
const clients: readonly Aim[] = byClients.map(byExecutable)

const throughMinio: readonly Aim[] = [
  against('minio-64mib', 'CPU of uploads, against a bare gateway', { most: 1.3 }, [
    'cpuPerGiB',
    'PUT',
    'bare gateway',
  ]),
  against('minio-64mib', 'CPU of downloads, against a bare gateway', { most: 1.2 }, [
    'cpuPerGiB',
    'GET',
    'bare gateway',
  ]),
  against('minio-4kib', 'CPU of a GET, against a bare gateway', { most: 1.2 }, [
    'cpuMicroseconds',
    'GET',
    'bare gateway',
  ]),
]

/** All of them, in the order of the scenarios. */
export const aims: readonly Aim[] = [
  ...downloads,
  ...smallUploads,
  ...largeUploads,
  ...overTls,
  ...lists,
  ...others,
  ...clients,
  ...throughMinio,
]
