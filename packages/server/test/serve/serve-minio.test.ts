import { randomUUID } from 'node:crypto'
import {
  describeWithContainers,
  describeWithMinio,
  startMinio,
  minioKeys,
} from '@holdfast/testing/minio'
import {
  createSite,
  credentials,
  type HoldfastServer,
  runHoldfast,
  startHoldfast,
  useHoldfast,
} from '@holdfast/testing'
import { expect } from 'chai'

interface Keys {
  readonly endpoint: string
  readonly accessKey: string
  readonly secretKey: string
}

describeWithMinio('holdfast serve --store minio', (minio) => {
  const holdfast = useHoldfast()
  const { site } = holdfast
  const start = (flags: readonly string[], env = minioKeys(minio())) =>
    holdfast.start(flagsOf(minio(), flags), { env })

  const refusal = async (flags: readonly string[], env = minioKeys(minio())) => {
    const args = ['serve', '--port', '0', ...flagsOf(minio(), flags)]
    const { code, stdout, stderr } = await runHoldfast(args, { cwd: site.path, env })
    expect(code).to.equal(1)
    expect(stderr)
      .to.match(/^holdfast: /)
      .and.not.match(/^\s+at |unexpected/m)
    expect(stdout + stderr).not.to.include(minio().secretKey)
    expect(stdout).not.to.include('listens')
    return stderr
  }

  it('keeps files in the bucket, where another server finds them', async () => {
    const bucket = await minio().createBucket()
    const [one, other] = [
      await start(['--minio-bucket', bucket]),
      await start(['--minio-bucket', bucket]),
    ]
    expect((await put(one, 'a.txt', 'hello')).status).to.equal(200)
    expect(await serve(other, 'a.txt')).to.equal('hello')
  })

  it('keeps the files of each prefix apart', async () => {
    const bucket = await minio().createBucket()
    const east = await start(['--minio-bucket', bucket, '--minio-prefix', 'east/'])
    const west = await start(['--minio-bucket', bucket, '--minio-prefix', 'west/'])
    await put(east, 'a.txt', 'of the east')
    await put(west, 'a.txt', 'of the west')
    expect(await serve(east, 'a.txt')).to.equal('of the east')
    expect(await serve(west, 'a.txt')).to.equal('of the west')
  })

  it('takes everything from the environment, and the keys from files', async () => {
    const { endpoint, accessKey, secretKey } = minio()
    const server = await holdfast.start([], {
      env: {
        HOLDFAST_STORE: 'minio',
        HOLDFAST_MINIO_ENDPOINT: endpoint,
        HOLDFAST_MINIO_BUCKET: `made-${randomUUID()}`,
        HOLDFAST_MINIO_CREATE_BUCKET: '1',
        HOLDFAST_MINIO_ACCESS_KEY_FILE: await site.write('access', `${accessKey}\n`),
        HOLDFAST_MINIO_SECRET_KEY_FILE: await site.write('secret', `${secretKey}\n`),
      },
    })
    expect((await put(server, 'a.txt', 'hello')).status).to.equal(200)
    expect(await serve(server, 'a.txt')).to.equal('hello')
  })

  it('makes a missing bucket only if set to', async () => {
    const flags = ['--minio-bucket', `made-${randomUUID()}`]
    expect(await refusal(flags)).to.include('Cannot use the MinIO store: ')
    expect(await refusal(flags)).to.match(
      / \(--minio-bucket\): make it, or give this command --minio-create-bucket\.$/m,
    )
    const server = await start([...flags, '--minio-create-bucket'])
    expect((await put(server, 'a.txt', 'hello')).status).to.equal(200)
    await start(flags)
  })

  it('says which of the keys is wrong', async () => {
    const flags = ['--minio-bucket', await minio().createBucket()]
    const { accessKey, secretKey } = minio()
    const wrongSecret = await refusal(flags, minioKeys({ accessKey, secretKey: 'wrong-s3cret' }))
    expect(wrongSecret).to.match(/ \(HOLDFAST_MINIO_SECRET_KEY\)\.$/m)
    expect(wrongSecret).not.to.include('wrong-s3cret')
    const wrongAccess = await refusal(flags, minioKeys({ accessKey: 'wrong-acce55', secretKey }))
    expect(wrongAccess).to.match(/ \(HOLDFAST_MINIO_ACCESS_KEY\)\.$/m)
    expect(wrongAccess).not.to.include('wrong-acce55')
  })

  it('says so when the name cannot be one of a bucket', async () => {
    expect(await refusal(['--minio-bucket', 'No Bucket'])).to.match(/ \(--minio-bucket\)\.$/m)
  })

  it('logs where files are, and never a key', async () => {
    const bucket = await minio().createBucket()
    const flags = ['--minio-bucket', bucket, '--minio-prefix', 'p/', '--log-level', 'trace']
    const server = await start(flags)
    const line = await server.logged('holdfast listens on ')
    const { endpoint, accessKey, secretKey } = minio()
    expect(line).to.include({ store: 'minio', endpoint, bucket, prefix: 'p/' })
    expect(line).not.to.have.property('data')
    await put(server, 'a.txt', 'hello')
    await serve(server, 'a.txt')
    await fetch(`${server.url}/list`, { headers: credentials })
    await fetch(`${server.url}/serve/none`, { headers: credentials })
    server.signal('SIGTERM')
    expect(await server.ended).to.equal(0)
    expect(server.lines().filter(({ msg }) => msg === 'request')).to.have.length(4)
    expect(server.output()).not.to.include(secretKey).and.not.include(accessKey)
  })
})

describeWithContainers('holdfast serve --store minio over TLS', () => {
  it('trusts the authority in NODE_EXTRA_CA_CERTS, and no unknown one', async function () {
    this.timeout(60_000)
    const site = await createSite()
    const minio = await startMinio({ tls: true })
    try {
      const cwd = site.path
      const flags = flagsOf(minio, ['--minio-bucket', 'files', '--minio-create-bucket'])
      const trusted = await site.write('ca.pem', minio.certificate ?? '')
      const env = { ...minioKeys(minio), NODE_EXTRA_CA_CERTS: trusted }
      const server = await startHoldfast(flags, { cwd, env })
      try {
        expect((await put(server, 'a.txt', 'hello')).status).to.equal(200)
        expect(await serve(server, 'a.txt')).to.equal('hello')
      } finally {
        await server.kill()
      }
      const args = ['serve', '--port', '0', ...flags]
      const { code, stderr } = await runHoldfast(args, { cwd, env: minioKeys(minio) })
      expect(code).to.equal(1)
      expect(stderr).to.match(/certificate.* \(--minio-endpoint\); give .* NODE_EXTRA_CA_CERTS\.$/m)
    } finally {
      await minio.stop()
      await site.remove()
    }
  })
})

function flagsOf({ endpoint }: Pick<Keys, 'endpoint'>, flags: readonly string[]) {
  return ['--store', 'minio', '--minio-endpoint', endpoint, ...flags]
}

function put({ url }: HoldfastServer, name: string, body: string): Promise<Response> {
  return fetch(`${url}/upload/${name}`, { method: 'PUT', headers: credentials, body })
}

async function serve({ url }: HoldfastServer, name: string): Promise<string> {
  return (await fetch(`${url}/serve/${name}`, { headers: credentials })).text()
}
