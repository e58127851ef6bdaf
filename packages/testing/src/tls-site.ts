import { makeCertificate, type Certificate } from './certificate.ts'
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
