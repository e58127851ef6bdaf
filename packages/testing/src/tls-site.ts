import { execFile } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { promisify } from 'node:util'
import { startHoldfast, type HoldfastServer } from './holdfast.ts'
import { curl } from './machine.ts'
import { createSite, credentials, type Site } from './site.ts'

/** A site with a certificate for 127.0.0.1 in `cert.pem` and its key in `key.pem`. */
export interface TlsSite extends Site {
  readonly certificate: Certificate
  /** Starts the real server with that certificate. */
  start(args?: readonly string[], env?: Readonly<Record<string, string>>): Promise<HoldfastServer>
  /** What curl prints, which believes that certificate and no other, and shows the customer's credentials. */
  curl(...args: readonly string[]): Promise<string>
}

/** Far enough from its end that nothing is to be warned of. */
export const validDays = 90

export const tlsFlags = ['--tls-cert', 'cert.pem', '--tls-key', 'key.pem']

export async function createTlsSite(): Promise<TlsSite> {
  const site = await createSite()
  const certificate = await makeCertificate({ days: validDays })
  await site.write('ca.pem', certificate.certificate)
  await site.write('cert.pem', certificate.certificate)
  await site.write('key.pem', certificate.privateKey)
  const headers = Object.entries(credentials).flatMap(([name, value]) => [
    '-H',
    `${name}: ${value}`,
  ])
  return {
    ...site,
    certificate,
    start: (args = [], env = {}) => startHoldfast([...tlsFlags, ...args], { cwd: site.path, env }),
    async curl(...args) {
      const always = ['--cacert', 'ca.pem', ...headers]
      const { exitCode, stdout, stderr } = await curl([...always, ...args], { cwd: site.path })
      if (exitCode !== 0) throw new Error(`curl ended with ${exitCode}: ${stderr}`)
      return stdout.toString()
    },
  }
}

/** A certificate that is its own authority, and its key, both as PEM. */
export interface Certificate {
  readonly certificate: string
  readonly privateKey: string
}

/** Makes a certificate for 127.0.0.1 and localhost that is valid for some days. Needs the program `openssl`. */
export async function makeCertificate({ days = 1 } = {}): Promise<Certificate> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-certificate-'))
  const [certificate, privateKey] = [join(folder, 'public.crt'), join(folder, 'private.key')]
  try {
    const command = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days ${days} -subj /CN=localhost
      -addext subjectAltName=IP:127.0.0.1,DNS:localhost`
    const files = ['-keyout', privateKey, '-out', certificate]
    await promisify(execFile)('openssl', [...command.split(/\s+/), ...files])
    return {
      certificate: await readFile(certificate, 'utf8'),
      privateKey: await readFile(privateKey, 'utf8'),
    }
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** Has the tests of a suite trust a certificate for 127.0.0.1: this process, and every curl that it starts. */
export function useTrustedCertificate(): () => Certificate {
  let certificate: Certificate | undefined
  let folder = ''
  const authorities = getCACertificates('default')
  const { CURL_CA_BUNDLE } = process.env

  before(async () => {
    certificate = await makeCertificate()
    folder = await mkdtemp(join(tmpdir(), 'holdfast-trusted-'))
    await chmod(folder, 0o755)
    const bundle = join(folder, 'ca.pem')
    await writeFile(bundle, certificate.certificate)
    setDefaultCACertificates([...authorities, certificate.certificate])
    process.env['CURL_CA_BUNDLE'] = bundle
  })
  after(async () => {
    setDefaultCACertificates(authorities)
    if (CURL_CA_BUNDLE === undefined) delete process.env['CURL_CA_BUNDLE']
    else process.env['CURL_CA_BUNDLE'] = CURL_CA_BUNDLE
    await rm(folder, { recursive: true, force: true })
  })
  return () => {
    if (certificate === undefined) throw new Error('There is a certificate during tests only')
    return certificate
  }
}
