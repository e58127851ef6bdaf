import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { findFreePort } from '../../../packages/testing/src/machine.ts'
import { secured } from './secured.ts'
import { startProcess } from './start-process.ts'
import type { Dialect, S3Bucket, Subject } from './subject.ts'

/** As holdfast is asked, without credentials. */
const dialect: Dialect = {
  ping: () => ({ method: 'GET', path: '/ping' }),
  get: (name) => ({ method: 'GET', path: `/serve/${name}` }),
  form: () => ({ method: 'POST', path: '/upload' }),
  put: (name) => ({ method: 'PUT', path: `/upload/${name}` }),
  remove: (name) => ({ method: 'DELETE', path: `/delete/${name}` }),
}

/** The least that Node.js needs for requests that touch no disk. */
export const bareHttp = createFloor('bare http', 'bare-http.ts')

/** The least that Node.js and a disk need for a durable file that comes over HTTP, and for its deletion. */
export const diskAndHttp = createFloor('disk+http', 'bare-store.ts')

/** The least that Node.js needs between a client and an S3 server. */
export function bareGateway({ endpoint, bucket, accessKey, secretKey }: S3Bucket): Subject {
  return createFloor('bare gateway', 'bare-gateway.ts', {
    ENDPOINT: endpoint,
    BUCKET: bucket,
    ACCESS_KEY: accessKey,
    SECRET_KEY: secretKey,
  })
}

/** The program `servers/<program>`, which does what the machine must do in any case, and nothing else. */
function createFloor(
  name: string,
  program: string,
  own: Readonly<Record<string, string>> = {},
): Subject {
  return {
    name,
    lookUp: async () => ({ version: `Node.js ${process.version}` }),
    start: async (directory, { tls } = {}) => {
      const [port, files] = [await findFreePort(), join(directory, 'files')]
      await mkdir(files)
      const child = await startProcess({
        command: process.execPath,
        args: [join(import.meta.dirname, '../servers', program)],
        environment: {
          ...{ PORT: `${port}`, DIRECTORY: files, UV_THREADPOOL_SIZE: '32' },
          ...(tls && { CERTIFICATE: tls.certificate, KEY: tls.key }),
          ...own,
        },
        log: join(directory, 'log'),
        port,
      })
      return { ...(tls ? secured(dialect) : dialect), ...child, name, port, files }
    },
  }
}
