import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3'
import { createGetClient, type GetClient } from './get-client.ts'
import { createRetryStrategy } from '../errors/retry-strategy.ts'
import type { ServerAccess } from './get-connection.ts'
import { createHttpHandler } from './http-handler.ts'

export interface StoreClient {
  /** Retries by `retry-strategy.ts`. */
  readonly s3: S3Client
  /** For requests that create or remove an object: does not repeat those that the server may have carried out. */
  readonly changing: S3Client
  /** For GETs of objects: fast, without retries. */
  readonly gets: GetClient
  /** The number of connections that carry a request, or an answer that has not been read completely. */
  readonly busyConnections: () => number
  readonly close: () => void
}

/** Creates a client for one server. It reads neither the environment nor the files of the AWS tools. */
export function createStoreClient(access: ServerAccess): StoreClient {
  const { endpoint, region, accessKey, secretKey, sessionToken } = access
  const handler = createHttpHandler(access)
  const gets = createGetClient(access)
  const config: S3ClientConfig = {
    endpoint,
    region,
    credentials: {
      accessKeyId: accessKey,
      secretAccessKey: secretKey,
      ...(sessionToken !== undefined && { sessionToken }),
    },
    requestHandler: handler,
    // `http://host/bucket/key`; `http://bucket.host/key` would need a DNS name for each bucket.
    forcePathStyle: true,
    // Each upload computes the checksums of its parts itself; those of the client are slower.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    expectContinueHeader: false,
    defaultsMode: 'standard',
    useDualstackEndpoint: false,
    useFipsEndpoint: false,
    useArnRegion: false,
    disableMultiregionAccessPoints: true,
    disableS3ExpressSessionAuth: true,
    followRegionRedirects: false,
    userAgentAppId: async () => 'holdfast',
  }
  const s3 = new S3Client({ ...config, retryStrategy: createRetryStrategy() })
  const careful = createRetryStrategy(Math.random, { repeatsDoubtful: false })
  const changing = new S3Client({ ...config, retryStrategy: careful })
  ;[s3, changing].forEach(leavePayloadUnsigned)
  return {
    s3,
    changing,
    gets,
    busyConnections: () => handler.busyConnections() + gets.busyConnections(),
    close: () => {
      s3.destroy()
      gets.close()
    },
  }
}

/**
 * Omits the SHA-256 of the content, which the client computes on plain HTTP and not on HTTPS. The CRC-32 in a signed header
 * protects the content (decision 009).
 */
function leavePayloadUnsigned(s3: S3Client): void {
  s3.middlewareStack.add(
    (next) => async (args) => {
      const request = args.request as { headers?: Record<string, string>; body?: unknown }
      if (request.headers && request.body instanceof Uint8Array) {
        request.headers['x-amz-content-sha256'] = 'UNSIGNED-PAYLOAD'
      }
      return next(args)
    },
    { step: 'build', name: 'leavePayloadUnsigned' },
  )
}
