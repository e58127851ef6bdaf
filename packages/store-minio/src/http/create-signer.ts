import { createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto'
import type { ServerAccess } from './get-connection.ts'

/**
 * Returns the header lines of a request: `headers`, the signature and what it needs, each line with its CRLF. The caller
 * gives the names in lower case and the path escaped. The signature does not cover the body.
 */
export type Sign = (
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
) => string

/**
 * Signs requests to S3 (AWS Signature Version 4). The signer of the S3 client computes the same signature in several
 * times the processor time, which every GET would pay (decision 009).
 */
export function createSigner(
  {
    region,
    accessKey,
    secretKey,
    sessionToken,
  }: Pick<ServerAccess, 'region' | 'accessKey' | 'secretKey' | 'sessionToken'>,
  now: () => Date = () => new Date(),
): Sign {
  const keyOf = createDailyKeys(secretKey, region)
  return (method, path, headers) => {
    const time = now()
      .toISOString()
      .replace(/[-:]|\.\d+/g, '')
    const day = time.slice(0, 8)
    const fields: Record<string, string> = {
      ...headers,
      'x-amz-content-sha256': 'UNSIGNED-PAYLOAD',
      'x-amz-date': time,
      ...(sessionToken !== undefined && { 'x-amz-security-token': sessionToken }),
    }
    const names = Object.keys(fields).sort()
    const lines = names.map((name) => `${name}:${(fields[name] ?? '').trim().replace(/\s+/g, ' ')}`)
    const signedNames = names.join(';')
    const request = [method, path, '', ...lines, '', signedNames, 'UNSIGNED-PAYLOAD'].join('\n')
    const scope = `${day}/${region}/s3/aws4_request`
    const text = ['AWS4-HMAC-SHA256', time, scope, hash('sha256', request)].join('\n')
    const signature = createHmac('sha256', keyOf(day)).update(text).digest('hex')
    const proof = `Credential=${accessKey}/${scope}, SignedHeaders=${signedNames}, Signature=${signature}`
    return `${lines.join('\r\n')}\r\nauthorization:AWS4-HMAC-SHA256 ${proof}\r\n`
  }
}

/** Derives the signing key of a day, and keeps it for that day. */
function createDailyKeys(secretKey: string, region: string): (day: string) => KeyObject {
  let known: { readonly day: string; readonly key: KeyObject } | undefined
  return (day) => {
    if (known?.day === day) return known.key
    const key = [day, region, 's3', 'aws4_request'].reduce<string | Buffer>(
      (secret, text) => createHmac('sha256', secret).update(text).digest(),
      `AWS4${secretKey}`,
    )
    known = { day, key: createSecretKey(Buffer.from(key)) }
    return known.key
  }
}

/** Escapes all but the unreserved characters (RFC 3986 §2.3), as signatures do; `encodeURIComponent` escapes fewer. */
export function escapeUri(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
