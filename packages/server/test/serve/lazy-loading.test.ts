import {
  createSite,
  packagedProgram as program,
  runHoldfast,
  type Site,
  startHoldfast,
  until,
} from '@holdfast/testing'
import { expect } from 'chai'

/** Reports each module of the client for S3 that the process loads. */
const witness = `
import { registerHooks } from 'node:module'
registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context)
    if (/store-minio|@aws-sdk/.test(found.url)) process.stderr.write('loads ' + found.url + '\\n')
    return found
  },
})`
const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(witness)}` }

describe('The client for S3', () => {
  let site: Site
  beforeEach(async () => {
    site = await createSite()
  })
  afterEach(() => site.remove())

  it('is not loaded by a server that keeps files on a disk', async () => {
    const server = await startHoldfast([], { cwd: site.path, env, program })
    await server.kill()
    expect(server.output()).not.to.include('loads ')
  })

  it('is not loaded for help, for other commands, or before the settings are complete', async () => {
    for (const args of [
      ['serve', '--help'],
      ['customers', 'list'],
      ['serve', '--store', 'minio'],
    ]) {
      const { stderr } = await runHoldfast(args, { cwd: site.path, env, program })
      expect(stderr).not.to.include('loads ')
    }
  })

  it('is loaded by a server that keeps files in MinIO, which says so when no server answers there', async () => {
    const { code, stderr } = await runHoldfast(
      [
        'serve',
        '--port',
        '0',
        '--store',
        'minio',
        '--minio-endpoint',
        'http://127.0.0.1:9',
        '--minio-bucket',
        'files',
      ],
      {
        cwd: site.path,
        program,
        env: { ...env, HOLDFAST_MINIO_ACCESS_KEY: 'key', HOLDFAST_MINIO_SECRET_KEY: 's3cret' },
      },
    )
    expect(stderr)
      .to.include('loads ')
      .and.match(/^holdfast: Cannot use .* \(--minio-endpoint\)\.$/m)
    expect(code).to.equal(1)
  })
})

/** Reports at a signal which modules the process has loaded, Node's own among them. */
const confession = `
import { registerHooks } from 'node:module'
const files = []
registerHooks({
  load(url, context, next) {
    files.push(url)
    return next(url, context)
  },
})
process.on('SIGUSR2', () => {
  process.stderr.write('has loaded: ' + [...process.moduleLoadList, ...files].join(' ') + ' .\\n')
})`

describe('The start of a server without TLS', () => {
  let site: Site
  beforeEach(async () => {
    site = await createSite()
  })
  afterEach(() => site.remove())

  /** The modules that are loaded when it has answered for the first time, with a space around each. */
  const loaded = async () => {
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(confession)}`
    const server = await startHoldfast([], { cwd: site.path, env: { NODE_OPTIONS }, program })
    try {
      expect((await fetch(`${server.url}/ping`)).status).to.equal(200)
      server.signal('SIGUSR2')
      await until('it reports what it has loaded', () => server.output().includes(' .\n'))
    } finally {
      await server.kill()
    }
    return server.output()
  }

  it('loads neither TLS, nor fetch, nor packages that limit by databases, measure, or show the page', async () => {
    const modules = await loaded()
    expect(modules).to.include(' http ').and.include('RateLimiterMemory')
    for (const needless of [
      ...[' https ', ' tls ', '/undici '],
      ...['RateLimiterRedis', 'prom-client', '/web/dist/'],
    ]) {
      expect(modules).not.to.include(needless)
    }
  })

  it('loads few modules of ours: each takes Node time to find and link', async () => {
    const ours = (await loaded()).match(/\/packages\/[\w-]+\/(dist|bin)\/\S+/g) ?? []
    expect(new Set(ours).size).to.be.within(10, 40)
  })
})
