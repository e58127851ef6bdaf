import { adviceOf } from '@holdfast/core'
import { createObjectKeys, type ObjectKeys } from '../keys/object-keys.ts'
import { createStoreClient, type StoreClient } from '../http/s3-client.ts'
import { StoreSettingError } from '../errors/s3-errors.ts'

/** How a bucket is reached, and where in it the files are. */
export interface StoreAccessOptions {
  /** Where the server is, as in `http://host:9000` or `https://host`. */
  readonly endpoint: string
  readonly bucket: string
  readonly accessKey: string
  readonly secretKey: string
  /** Goes with temporary keys. Default: none. */
  readonly sessionToken?: string
  /** Default: `us-east-1`, the default of MinIO. */
  readonly region?: string
  /** What all keys begin with, such as `holdfast/`, in a bucket that others use too. Default: nothing. */
  readonly prefix?: string
  /** Make the bucket if it is missing. Default: do not. */
  readonly createBucket?: boolean
  /** Milliseconds for a connection to stand. Default: 5,000. */
  readonly connectTimeoutMs?: number
  /** Milliseconds for which the server may neither take nor send a byte while it is waited for. Default: 30,000. */
  readonly idleTimeoutMs?: number
}

export interface StoreAccess {
  readonly client: StoreClient
  readonly keys: ObjectKeys
  readonly region: string
  readonly prefix: string
}

/**
 * The means to reach a bucket; connects to nothing yet.
 *
 * @throws StoreSettingError for an endpoint or a prefix that cannot be one
 */
export function createStoreAccess(options: StoreAccessOptions): StoreAccess {
  const { region = 'us-east-1', prefix = '' } = options
  return { keys: keysFor(prefix), client: connect(options, region), region, prefix }
}

function keysFor(prefix: string): ObjectKeys {
  try {
    return createObjectKeys(prefix)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    const { problem, remedies } = adviceOf(error)
    throw new StoreSettingError('prefix', `the prefix "${prefix}" ${problem}`, remedies)
  }
}

function connect(options: StoreAccessOptions, region: string): StoreClient {
  const { endpoint, connectTimeoutMs = 5_000, idleTimeoutMs = 30_000 } = options
  const url = URL.parse(endpoint)
  const isUsable =
    (url?.protocol === 'http:' || url?.protocol === 'https:') &&
    url.username === '' &&
    url.pathname === '/' &&
    url.search === '' &&
    url.hash === ''
  if (!isUsable) {
    const message = `"${endpoint}" is no address such as http://host:9000`
    throw new StoreSettingError('endpoint', message)
  }
  return createStoreClient({ ...options, region, connectTimeoutMs, idleTimeoutMs })
}
