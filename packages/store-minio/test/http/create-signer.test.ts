import { createHash, createHmac } from 'node:crypto'
import { SignatureV4 } from '@smithy/signature-v4'
import type { Checksum, SourceData } from '@smithy/types'
import { expect } from 'chai'
import fc from 'fast-check'
import { createSigner, escapeUri } from '../../src/http/create-signer.ts'

/** As the S3 client's signer wants it. */
class Sha256 implements Checksum {
  readonly #hash: ReturnType<typeof createHash> | ReturnType<typeof createHmac>
  constructor(secret?: SourceData) {
    this.#hash =
      secret === undefined ? createHash('sha256') : createHmac('sha256', secret as Uint8Array)
  }
  update(data: SourceData): void {
    this.#hash.update(data as Uint8Array)
  }
  async digest(): Promise<Uint8Array> {
    return this.#hash.digest()
  }
  reset(): void {}
}

const printable = fc.string({ minLength: 1, maxLength: 30 })
const timeouts = { connectTimeoutMs: 1, idleTimeoutMs: 1 }

describe('createSigner', () => {
  it('signs as the S3 client does', async () => {
    const requests = fc.record({
      method: fc.constantFrom('GET', 'HEAD', 'PUT'),
      key: fc.string({ minLength: 1, unit: 'grapheme' }),
      headers: fc.dictionary(fc.constantFrom('range', 'if-match', 'x-amz-meta-a'), printable),
      secretKey: printable,
      sessionToken: fc.option(fc.stringMatching(/^[\w+/=]{1,40}$/), { nil: undefined }),
      region: fc.constantFrom('us-east-1', 'eu'),
      date: fc.date({
        min: new Date('2000-01-01'),
        max: new Date('2100-01-01'),
        noInvalidDate: true,
      }),
    })
    await fc.assert(
      fc.asyncProperty(requests, async (request) => {
        const { method, key, secretKey, sessionToken, region, date } = request
        const headers = { host: 'store:9000', ...request.headers }
        const path = `/files/${escapeUri(key)}`
        const signer = new SignatureV4({
          region,
          service: 's3',
          credentials: {
            accessKeyId: 'me',
            secretAccessKey: secretKey,
            ...(sessionToken !== undefined && { sessionToken }),
          },
          sha256: Sha256,
          uriEscapePath: false,
          applyChecksum: false,
        })
        const signed = await signer.sign(
          {
            ...{ method, path, protocol: 'http:', hostname: 'store', query: {} },
            headers: { ...headers, 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' },
          },
          { signingDate: date },
        )
        const connection = { endpoint: 'http://store:9000', accessKey: 'me', ...timeouts }
        const sign = createSigner({ ...connection, region, secretKey, sessionToken }, () => date)
        expect(sign(method, path, headers)).to.include(
          `\r\nauthorization:${signed.headers['authorization'] ?? 'nothing'}\r\n`,
        )
      }),
      { numRuns: 300 },
    )
  })

  it('signs anew each day', () => {
    let date = new Date('2026-11-21T23:59:59.999Z')
    const connection = { endpoint: 'http://store:9000', region: 'eu', accessKey: 'me', ...timeouts }
    const sign = createSigner({ ...connection, secretKey: 'secret' }, () => date)
    const today = sign('GET', '/a', {})
    date = new Date('2026-11-22T00:00:00Z')
    const fresh = createSigner({ ...connection, secretKey: 'secret' }, () => date)
    expect(sign('GET', '/a', {}))
      .to.equal(fresh('GET', '/a', {}))
      .and.not.equal(today)
    expect(today).to.include('x-amz-date:20261121T235959Z\r\n')
  })
})
