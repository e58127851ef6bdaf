import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { parse } from 'yaml'
import { resolveConfig } from '../../../server/src/config/resolve-config.ts'

const root = new URL('../../../../', import.meta.url)
const textOf = (path: string) => readFileSync(new URL(path, root), 'utf8')

interface Service {
  readonly read_only?: boolean
  readonly cap_drop?: readonly string[]
  readonly security_opt?: readonly string[]
  readonly ports?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly stop_grace_period?: string
  readonly secrets?: readonly string[]
  readonly build?: { readonly args?: Readonly<Record<string, string>> }
}

describe('compose.yaml', () => {
  const { services } = parse(textOf('compose.yaml'), { merge: true }) as {
    services: Readonly<Record<string, Service>>
  }

  it('gives no service a right that it does not need, and publishes nothing but TLS', () => {
    expect(Object.keys(services)).to.have.members(['nginx', 'holdfast', 'minio', 'minio-setup'])
    for (const [name, service] of Object.entries(services)) {
      expect(service, name).to.deep.include({
        read_only: true,
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
      })
      if (name !== 'nginx') expect(service.ports, name).to.equal(undefined)
    }
  })

  it('has no secret in the environment', () => {
    const variables = Object.values(services).flatMap(({ environment = {} }) =>
      Object.keys(environment),
    )
    const secret = variables.filter((name) => /PASSWORD|SECRET/.test(name))
    expect(secret).to.have.members(['HOLDFAST_MINIO_SECRET_KEY_FILE', 'MINIO_ROOT_PASSWORD_FILE'])
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

  it('lets uploads under way finish', () => {
    const patienceSeconds = Number.parseInt(services['holdfast']?.stop_grace_period ?? '')
    expect(patienceSeconds * 1000).to.be.above(resolveConfig()['shutdown-grace'])
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
