import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { SetupError } from '@holdfast/core'
import { expect } from 'chai'
import { createSite, runHoldfast, startHoldfast, type Site } from '@holdfast/testing'
import { refuseFlagsOfOtherStores } from '../src/flags.ts'

describe('refuseFlagsOfOtherStores', () => {
  it('lets flags of the server and of the store in use pass', () => {
    refuseFlagsOfOtherStores({ port: '1', store: 'disk', data: 'd' }, ['disk'])
    refuseFlagsOfOtherStores({ port: '1', 'minio-bucket': 'b', 'minio-create-bucket': 'true' }, [
      'minio',
    ])
  })

  it('lets flags of both pass where both are in use', () => {
    refuseFlagsOfOtherStores({ data: 'd', 'minio-bucket': 'b' }, ['disk', 'minio'])
  })

  it('names every flag of a store that is not in use', () => {
    expect(() =>
      refuseFlagsOfOtherStores({ 'minio-bucket': 'b', 'minio-prefix': '' }, ['disk']),
    ).to.throw(
      SetupError,
      'The store is disk, which does not use --minio-bucket, --minio-prefix. Choose the store minio',
    )
    expect(() => refuseFlagsOfOtherStores({ data: './data' }, ['minio'])).to.throw(
      SetupError,
      'The store is minio, which does not use --data. Choose the store disk',
    )
  })
})

describe('A bucket that is missing', function () {
  this.timeout(120_000)
  let site: Site
  let s3: Server
  before(async () => {
    site = await createSite()
    // Makes the data directory.
    await (await startHoldfast([], { cwd: site.path })).kill()
    s3 = createServer((request, response) => {
      request.resume()
      response.writeHead(404, { 'Content-Type': 'application/xml' })
      response.end('<Error><Code>NoSuchBucket</Code><Message>None</Message></Error>')
    })
    await once(s3.listen(0, '127.0.0.1'), 'listening')
  })
  after(async () => {
    s3.closeAllConnections()
    s3.close()
    await site.remove()
  })
  const run = (...args: readonly string[]) =>
    runHoldfast([...args, '--minio-bucket', 'files'], {
      cwd: site.path,
      env: {
        HOLDFAST_MINIO_ENDPOINT: `http://127.0.0.1:${(s3.address() as AddressInfo).port}`,
        HOLDFAST_MINIO_ACCESS_KEY: 'access',
        HOLDFAST_MINIO_SECRET_KEY: 'secret-key',
      },
    })
  const problem = 'Cannot use the MinIO store: there is no bucket "files" (--minio-bucket)'

  it('may be made by a copy to it, with the flag of that command', async () => {
    const { code, stderr } = await run('copy', '--from', 'disk', '--to', 'minio')
    expect({ code, stderr }).to.deep.equal({
      code: 1,
      stderr: `holdfast: ${problem}: make it, or give this command --minio-create-bucket.\n`,
    })
  })

  for (const args of [
    ['copy', '--from', 'minio', '--to', 'disk'],
    ['usage', '--store', 'minio'],
  ]) {
    it(`is not to be made by ${args.join(' ')}, which reads from it`, async () => {
      const { code, stderr } = await run(...args)
      expect({ code, stderr }).to.deep.equal({
        code: 1,
        stderr: `holdfast: ${problem}. Check its name.\n`,
      })
    })
  }
})
