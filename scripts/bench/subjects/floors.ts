import { plainDialect, startNodeServer } from './node-peer.ts'
import type { Dialect, S3Bucket, Subject } from './subject.ts'

const dialect: Dialect = {
  ...plainDialect,
  put: (name) => ({ method: 'PUT', path: `/upload/${name}` }),
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
  const environment = { UV_THREADPOOL_SIZE: '32', ...own }
  return {
    name,
    lookUp: async () => ({ version: `Node.js ${process.version}` }),
    start: (directory, options) =>
      startNodeServer(
        { name, program: `servers/${program}`, dialect, environment },
        directory,
        options,
      ),
  }
}
