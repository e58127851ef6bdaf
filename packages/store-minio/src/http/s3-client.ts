import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3'
import { createGetClient, type GetClient } from './get-client.ts'
import { createRetryStrategy } from '../errors/retry-strategy.ts'
import type { Connection } from './connection.ts'
import { createHttpHandler } from './http-handler.ts'

export interface StoreClient {
  /** Asks again as `retry-strategy.ts` says. */
  readonly s3: S3Client
  /** For requests that make or remove an object: does not repeat them where they may have been carried out. */
  readonly changing: S3Client
  /** For what goes well and wants to be quick. */
  readonly gets: GetClient
  /** How many connections carry a request or an unread answer now. */
  readonly busyConnections: () => number
  readonly close: () => void
}

/** A client for one server. Nothing comes from the environment or from files of the AWS tools. */
export function createStoreClient(connection: Connection): StoreClient {
  const { endpoint, region, accessKey, secretKey, sessionToken } = connection
  const handler = createHttpHandler(connection)
  const gets = createGetClient(connection)
  const config: S3ClientConfig = {
    endpoint,
    region,
    credentials: {
      accessKeyId: accessKey,
      secretAccessKey: secretKey,
      ...(sessionToken !== undefined && { sessionToken }),
    },
    requestHandler: handler,
    // `http://host/bucket/key`: `http://bucket.host/key` would need a DNS name for every bucket.
    forcePathStyle: true,
    // Checksums are given where they matter, made of whole parts; the client would make its own, slower, of streams.
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
 * Spares a SHA-256 of all content: the checksum in a signed header guards what the signature of the payload would. On
 * plain HTTP the client would sign, on HTTPS it leaves it out by itself.
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
