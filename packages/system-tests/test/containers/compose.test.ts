import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findFreePort, makeTemporaryDirectory, until } from '@holdfast/testing'
import { expect } from 'chai'
import { parse } from 'yaml'
import { resolveConfig } from '../../../server/src/config/resolve-config.ts'
import { unknownVariables } from '../../../server/src/config/environment.ts'

const root = new URL('../../../../', import.meta.url)
const textOf = (path: string) => readFileSync(new URL(path, root), 'utf8')

interface Service {
  readonly profiles?: readonly string[]
  readonly entrypoint?: readonly string[]
  readonly networks?: readonly string[]
  readonly read_only?: boolean
  readonly cap_drop?: readonly string[]
  readonly security_opt?: readonly string[]
  readonly ports?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly stop_grace_period?: string
  readonly secrets?: readonly (string | { readonly source: string; readonly target: string })[]
  readonly volumes?: readonly string[]
  readonly depends_on?: readonly string[] | Readonly<Record<string, unknown>>
  readonly build?: { readonly args?: Readonly<Record<string, string>> }
}

interface ComposeFile {
  readonly services: Readonly<Record<string, Service>>
  readonly networks: Readonly<Record<string, { readonly internal?: boolean } | null>>
  readonly volumes: Readonly<Record<string, unknown>>
  readonly secrets: Readonly<Record<string, unknown>>
}

/** The parts in which a server of the cluster differs from the one alone. */
const differences = {
  profiles: undefined,
  depends_on: undefined,
  networks: undefined,
  secrets: undefined,
  environment: undefined,
}

describe('compose.yaml', () => {
  const file = parse(textOf('compose.yaml'), { merge: true }) as ComposeFile
  const { services } = file
  const namesWith = (profile: string | undefined) =>
    Object.keys(services).filter((name) => services[name]?.profiles?.[0] === profile)

  it('starts one server unless the profile "cluster" is asked for', () => {
    expect(namesWith(undefined)).to.have.members(['nginx', 'holdfast', 'minio', 'minio-setup'])
    expect(namesWith('cluster')).to.have.members(['haproxy', 'holdfast-1', 'holdfast-2', 'valkey'])
  })

  it('gives no service a right that it does not need, and publishes nothing but TLS', () => {
    for (const [name, service] of Object.entries(services)) {
      expect(service, name).to.deep.include({
        read_only: true,
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
      })
      if (name !== 'nginx' && name !== 'haproxy') expect(service.ports, name).to.equal(undefined)
    }
  })

  it('has no secret in the environment', () => {
    const variables = Object.values(services).flatMap(({ environment = {} }) =>
      Object.keys(environment),
    )
    const secret = variables.filter((name) => /PASSWORD|SECRET/.test(name))
    expect([...new Set(secret)]).to.have.members([
      'HOLDFAST_MINIO_SECRET_KEY_FILE',
      'HOLDFAST_SHARED_PASSWORD_FILE',
      'MINIO_ROOT_PASSWORD_FILE',
    ])
  })

  it('keeps the password of the root user of MinIO from all services but MinIO and its set-up', () => {
    const knowing = Object.entries(services).filter(([, { secrets = [] }]) =>
      secrets.includes('minio-root-password'),
    )
    expect(knowing.map(([name]) => name)).to.have.members(['minio', 'minio-setup'])
    expect(services['minio']?.environment).to.include({
      MINIO_ROOT_PASSWORD_FILE: '/run/secrets/minio-root-password',
    })
  })

  it('gives holdfast a user of its own, who is not root', () => {
    const { environment = {}, secrets } = services['holdfast'] ?? {}
    const root = services['minio']?.environment?.['MINIO_ROOT_USER']
    expect(root).to.be.a('string').and.not.equal(environment['HOLDFAST_MINIO_ACCESS_KEY'])
    expect(secrets).to.deep.equal(['minio-password'])
  })

  it('has two servers in the cluster that differ from the one alone only in what several need', () => {
    const { 'holdfast-1': first, 'holdfast-2': second, holdfast: alone } = services
    expect(first).to.deep.equal(second)
    expect({ ...first, ...differences }).to.deep.equal({ ...alone, ...differences })
    const added = Object.entries(first?.environment ?? {}).filter(
      ([name]) => alone?.environment?.[name] === undefined,
    )
    expect(first?.environment).to.include(alone?.environment)
    expect(Object.keys(Object.fromEntries(added))).to.have.members([
      'HOLDFAST_SHARED_URL',
      'HOLDFAST_SHARED_PASSWORD_FILE',
      'HOLDFAST_ADMIN_HOST',
      'HOLDFAST_SHUTDOWN_DELAY',
    ])
  })

  for (const name of ['holdfast', 'holdfast-1']) {
    it(`gives ${name} settings that the server takes, and time to end`, () => {
      const { environment = {}, stop_grace_period: patience = '' } = services[name] ?? {}
      expect(unknownVariables(environment)).to.deep.equal([])
      const { 'shutdown-grace': grace, 'shutdown-delay': delay } = resolveConfig({ environment })
      expect(Number.parseInt(patience) * 1000).to.be.above(grace + delay)
    })
  }

  it('lets only the servers of the cluster reach Valkey', () => {
    const reaching = Object.entries(services).filter(([, { networks = [] }]) =>
      networks.includes('shared'),
    )
    expect(reaching.map(([name]) => name)).to.have.members(['holdfast-1', 'holdfast-2', 'valkey'])
    expect(file.networks['shared']).to.deep.equal({ internal: true })
  })

  it('declares every volume, network and secret that a service names', () => {
    for (const [name, service] of Object.entries(services)) {
      const { networks = [], secrets = [], volumes = [], depends_on: needed = {} } = service
      expect(file.networks, name).to.include.keys(networks)
      const sources = secrets.map((each) => (typeof each === 'string' ? each : each.source))
      if (sources.length > 0) expect(file.secrets, name).to.include.keys(sources)
      const named = volumes.filter((volume) => /^\w/.test(volume))
      for (const volume of named) {
        expect(file.volumes, name).to.include.keys(volume.replace(/:.*/, ''))
      }
      const others = Array.isArray(needed) ? (needed as string[]) : Object.keys(needed)
      if (others.length > 0) expect(services, name).to.include.keys(others)
    }
  })

  for (const [service, folder] of [
    ['minio', 'minio-image'],
    ['minio-setup', 'mc-image'],
  ] as const) {
    it(`builds the ${service} that the tests run on`, () => {
      expect(services[service]?.build?.args?.['VERSION']).to.equal(
        textOf(`packages/testing/${folder}/version`).trim(),
      )
    })
  }
})

describe('docs/deploy/compose-nginx.conf', () => {
  const directives = (path: string) =>
    textOf(path)
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '' && !line.startsWith('#') && line !== '}')
  const isOfTheContainer =
    /^(pid|error_log|access_log|worker_connections|\w+_temp_path|resolver|listen|ssl_certificate|ssl_certificate_key|set|proxy_pass|proxy_set_header X-Forwarded-For) /

  it('passes requests on as docs/deploy/nginx.conf does, but for what containers are', () => {
    const proven = directives('docs/deploy/nginx.conf')
    const others = directives('docs/deploy/compose-nginx.conf').filter(
      (line) => !isOfTheContainer.test(line),
    )
    expect(others.length).to.be.above(20)
    expect(proven).to.include.members(others)
  })

  it('leaves out nothing that docs/deploy/nginx.conf says of the way to holdfast', () => {
    const text = textOf('docs/deploy/nginx.conf')
    const wayToHoldfast = text.slice(text.indexOf('http {'), text.indexOf('upstream holdfast'))
    const settings = wayToHoldfast
      .split('\n')
      .flatMap((line) => /^ +(\w.*;)$/.exec(line)?.[1] ?? [])
    const here = directives('docs/deploy/compose-nginx.conf')
    const missing = settings.filter((line) => !here.includes(line))
    expect(missing).to.have.length(2)
    for (const line of missing) expect(line).to.match(/^(access_log|log_format) /)
  })
})

describe('docs/deploy/compose-haproxy.cfg', () => {
  const linesOf = (path: string) =>
    textOf(path)
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '' && !line.startsWith('#'))
  const isOfTheContainer =
    /^(log |resolvers |nameserver |hold |bind |server |http-request del-header X-Forwarded-For$|http-check send )/
  const here = linesOf('docs/deploy/compose-haproxy.cfg')

  it('passes requests on as docs/deploy/haproxy.cfg does, but for what containers are', () => {
    const others = here.filter((line) => !isOfTheContainer.test(line))
    expect(others.length).to.be.above(20)
    expect(linesOf('docs/deploy/haproxy.cfg')).to.include.members(others)
  })

  it('leaves out nothing that docs/deploy/haproxy.cfg says of the way to holdfast', () => {
    const all = linesOf('docs/deploy/haproxy.cfg')
    const way = all.slice(all.indexOf('defaults'), all.indexOf('frontend store'))
    const missing = way.filter((line) => !here.includes(line))
    for (const line of missing) expect(line).to.match(/^(bind |server |http-check send )/)
  })

  it('asks the admin port for /ready, and both servers of compose.yaml', () => {
    expect(here.filter((line) => line.includes('/ready'))).to.have.length(1)
    const asked = here.filter((line) => line.startsWith('server '))
    expect(asked.map((line) => line.split(' ')[2])).to.deep.equal([
      'holdfast-1:3000',
      'holdfast-2:3000',
    ])
    for (const line of asked) expect(line).to.include(' check port 3001 ')
  })
})

describe('valkey of compose.yaml, with docs/deploy/valkey.conf', () => {
  const { services } = parse(textOf('compose.yaml'), { merge: true }) as ComposeFile

  it('asks for the password of the secret, evicts nothing, and keeps what was counted', async () => {
    await using folder = await makeTemporaryDirectory()
    const at = (name: string) => join(folder.path, name)
    const port = await findFreePort()
    const text = textOf('docs/deploy/valkey.conf').replace('dir /data', `dir ${folder.path}`)
    await writeFile(at('deployed.conf'), `${text}\nbind 127.0.0.1\nport ${port}\n`)
    await writeFile(at('password'), 'of-valkey\n')
    const [shell = '', ...args] = services['valkey']?.entrypoint ?? []
    const script = (args.at(-1) ?? '')
      .replaceAll('$$', '$')
      .replaceAll('/run/secrets/valkey-password', at('password'))
      .replaceAll('/deploy/valkey.conf', at('deployed.conf'))
      .replaceAll('/tmp/valkey.conf', at('written.conf'))
      .replaceAll('valkey-server', 'redis-server')
    const child = spawn(shell, [...args.slice(0, -1), script], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const ended = once(child, 'close')
    try {
      let said = ''
      child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
      await until(
        () => `it is ready; it said ${said}`,
        () => said.includes('Ready to accept connections') || child.exitCode !== null,
      )
      const ask = async (command: readonly string[], env = {}) => {
        const options = { env: { ...process.env, ...env } }
        const all = ['-p', `${port}`, '--json', ...command]
        return (await promisify(execFile)('redis-cli', all, options)).stdout
      }
      expect(await ask(['PING'])).to.include('NOAUTH')
      const names = ['maxmemory', 'maxmemory-policy', 'appendonly', 'appendfsync', 'save']
      const answer = await ask(['CONFIG', 'GET', ...names], { REDISCLI_AUTH: 'of-valkey' })
      expect(JSON.parse(answer)).to.deep.equal({
        maxmemory: `${256 * 1024 ** 2}`,
        'maxmemory-policy': 'noeviction',
        appendonly: 'yes',
        appendfsync: 'everysec',
        save: '',
      })
      expect((await stat(at('written.conf'))).mode & 0o077).to.equal(0)
    } finally {
      child.kill('SIGTERM')
      await ended
    }
  })
})
