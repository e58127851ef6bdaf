import { adviceOf } from '@holdfast/core'
import { createStoreClient, type StoreClient } from '../http/s3-client.ts'
import { StoreSettingError } from '../http/s3-errors.ts'
import { createObjectKeys, type ObjectKeys } from '../keys/object-keys.ts'

/** The address of a bucket, and where in it the files are. */
export interface StoreAccessOptions {
  /** The address of the server, as in `http://host:9000` or `https://host`. */
  readonly endpoint: string
  readonly bucket: string
  readonly accessKey: string
  readonly secretKey: string
  /** Needed with temporary keys. Default: none. */
  readonly sessionToken?: string
  /** Default: `us-east-1`, the default of MinIO. */
  readonly region?: string
  /** The beginning of all keys, such as `holdfast/`, in a bucket that is also used for other things. Default: nothing. */
  readonly prefix?: string
  /** Whether to make the bucket if it is missing. Default: no. */
  readonly createBucket?: boolean
  /** Milliseconds within which a connection must be established. Default: 5,000. */
  readonly connectTimeoutMs?: number
  /** Milliseconds for which the server may neither take nor send a byte while a request waits for it. Default: 30,000. */
  readonly idleTimeoutMs?: number
}

export interface StoreAccess {
  readonly client: StoreClient
  readonly keys: ObjectKeys
  readonly region: string
  readonly prefix: string
}

/**
 * Makes the clients for a bucket; does not connect yet.
 *
 * @throws StoreSettingError for an invalid endpoint or prefix
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
