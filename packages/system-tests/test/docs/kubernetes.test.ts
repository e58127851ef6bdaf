import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { deployedFile } from '@holdfast/testing'
import { expect } from 'chai'
import { Deployment, type IDeployment } from 'kubernetes-models/apps/v1'
import { type INetworkPolicy, NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1'
import { type IPodDisruptionBudget, PodDisruptionBudget } from 'kubernetes-models/policy/v1'
import { type ISecret, type IService, Secret, Service } from 'kubernetes-models/v1'
import { parseAllDocuments } from 'yaml'
import { resolveConfig } from '../../../server/src/config/resolve-config.ts'
import { unknownVariables } from '../../../server/src/config/environment.ts'

const kinds: Readonly<Record<Manifest['kind'], new (manifest: never) => { validate(): void }>> = {
  Deployment,
  NetworkPolicy,
  PodDisruptionBudget,
  Secret,
  Service,
}
const sources: Readonly<Record<Manifest['kind'], string>> = {
  Deployment: 'kubernetes-models/apps/v1',
  NetworkPolicy: 'kubernetes-models/networking.k8s.io/v1',
  PodDisruptionBudget: 'kubernetes-models/policy/v1',
  Secret: 'kubernetes-models/v1',
  Service: 'kubernetes-models/v1',
}

type Manifest =
  | (IDeployment & { readonly kind: 'Deployment' })
  | (INetworkPolicy & { readonly kind: 'NetworkPolicy' })
  | (IPodDisruptionBudget & { readonly kind: 'PodDisruptionBudget' })
  | (ISecret & { readonly kind: 'Secret' })
  | (IService & { readonly kind: 'Service' })

describe('docs/deploy/kubernetes', () => {
  let manifests: readonly Manifest[]

  before(() => {
    const files = ['holdfast.yaml', 'secrets.yaml', 'network-policy.yaml']
    const texts = files.map((file) => deployedFile(join('kubernetes', file)))
    // Kubernetes reads YAML 1.1.
    const documents = texts.flatMap((text) => parseAllDocuments(text, { version: '1.1' }))
    for (const { errors } of documents) expect(errors).to.deep.equal([])
    manifests = documents.map((document) => document.toJS() as Manifest)
  })

  const only = <Kind extends Manifest['kind']>(kind: Kind) =>
    manifests.find(
      (manifest): manifest is Extract<Manifest, { kind: Kind }> => manifest.kind === kind,
    )

  const pod = () => only('Deployment')?.spec?.template.spec
  const container = () => pod()?.containers[0]
  const environment = () =>
    Object.fromEntries((container()?.env ?? []).map(({ name, value = '' }) => [name, value]))

  it('has values of the types that Kubernetes publishes', () => {
    for (const manifest of manifests) new kinds[manifest.kind](manifest as never).validate()
    const wrong = { ...only('Deployment'), spec: { replicas: 'two' } }
    expect(() => new Deployment(wrong as never).validate()).to.throw('replicas')
  })

  it('has no field that Kubernetes does not know', async function () {
    this.timeout(120_000)
    const lines = manifests.map(
      (manifest, index) =>
        `import type { I${manifest.kind} as T${index} } from '${sources[manifest.kind]}'\n` +
        `export const m${index}: T${index} = ${JSON.stringify(manifest)}\n`,
    )
    expect(await complaintsOf(lines.join(''))).to.equal('')
    const misspelt = lines.join('').replace('"replicas"', '"replica"')
    expect(await complaintsOf(misspelt)).to.match(/error TS\d+: .*replica\W+ does not exist/)
  })

  it('names settings that the server takes, and files that are mounted', () => {
    const variables = environment()
    expect(unknownVariables(variables)).to.deep.equal([])
    const config = resolveConfig({ environment: variables })
    expect(config).to.include({ store: 'minio', host: '0.0.0.0', 'admin-host': '0.0.0.0' })
    const keys = Object.entries(variables).filter(([name]) => name.endsWith('_FILE'))
    const named = [...keys.map(([, path]) => path), config.customers]
    const mounted = (container()?.volumeMounts ?? []).flatMap(({ name, mountPath, subPath }) => {
      expect(subPath, 'a subPath never changes').to.equal(undefined)
      const volume = pod()?.volumes?.find((each) => each.name === name)
      const secret = manifests.find(
        (each) => each.kind === 'Secret' && each.metadata?.name === volume?.secret?.secretName,
      )
      const content = secret?.kind === 'Secret' ? secret.stringData : {}
      return Object.keys(content ?? {}).map((file) => `${mountPath}/${file}`)
    })
    expect(mounted).to.have.members(named)
  })

  it('lets a server finish its requests before it is killed', () => {
    const config = resolveConfig({ environment: environment() })
    const patienceMs = (pod()?.terminationGracePeriodSeconds ?? 0) * 1000
    expect(patienceMs).to.be.above(config['shutdown-delay'] + config['shutdown-grace'])
    const { periodSeconds = 0, failureThreshold = 0 } = container()?.readinessProbe ?? {}
    expect(config['shutdown-delay']).to.be.above(2 * periodSeconds * failureThreshold * 1000)
  })

  it('asks the admin port, and never lacks a server during an upgrade', () => {
    const { admin: adminPort } = Object.fromEntries(
      (container()?.ports ?? []).map(({ name = '', containerPort }) => [name, containerPort]),
    )
    expect(adminPort).to.equal(resolveConfig({ environment: environment() })['admin-port'])
    const { livenessProbe, readinessProbe } = container() ?? {}
    expect(livenessProbe?.httpGet).to.deep.equal({ path: '/live', port: 'admin' })
    expect(readinessProbe?.httpGet).to.deep.equal({ path: '/ready', port: 'admin' })
    const { replicas, strategy } = only('Deployment')?.spec ?? {}
    expect(replicas).to.be.above(1)
    expect(strategy?.rollingUpdate?.maxUnavailable).to.equal(0)
    const ports = only('Service')?.spec?.ports?.map(({ targetPort }) => targetPort)
    expect(ports, 'no Service publishes the admin port').to.deep.equal(['http'])
  })

  it('gives the server no right that it does not need', () => {
    expect(pod()?.securityContext).to.include({ runAsNonRoot: true, runAsUser: 65_532 })
    expect(pod()?.automountServiceAccountToken).to.equal(false)
    expect(container()?.securityContext).to.deep.equal({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
    for (const { secret } of pod()?.volumes ?? []) expect(secret?.defaultMode).to.equal(0o440)
  })
})

/** What the compiler says of a program beside this test. */
async function complaintsOf(program: string): Promise<string> {
  const folder = await mkdtemp(join(import.meta.dirname, '.kubernetes-'))
  try {
    const file = join(folder, 'manifests.ts')
    await writeFile(file, program)
    const compiler = join(import.meta.dirname, '../../../../node_modules/.bin/tsc')
    const options = ['--noEmit', '--strict', '--module', 'nodenext', '--skipLibCheck']
    const command = [compiler, ...options, '--ignoreConfig', file]
    // The compiler's exit code says no more than what it prints.
    const { stdout } = await promisify(execFile)('sh', ['-c', '"$@" || true', 'sh', ...command])
    return stdout
  } finally {
    await rm(folder, { recursive: true })
  }
}
