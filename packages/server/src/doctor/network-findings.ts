import pino from 'pino'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { adviceOf, finding, type Finding } from '@holdfast/core'
import { adviceFinding } from './advice-finding.ts'
import { attemptFindings } from './attempt-findings.ts'
import type { Config } from '../config/resolve-config.ts'
import { checkProxies } from '../listen/check-proxies.ts'
import { explainListening, type ListeningPlace } from '../listen/explain-listening.ts'
import { adminPlace } from '../serve/admin-place.ts'
import { clearTextWarning } from '../serve/clear-text-warning.ts'
import { certificateWarnings } from '../tls/certificate-warnings.ts'
import { openCertificate } from '../tls/open-certificate.ts'

/** Whether clients can reach the server, and safely, as far as its settings show. */
export async function* networkFindings(config: Config): AsyncGenerator<Finding> {
  const { host, port } = config
  yield await listeningFinding('listening', { host, port })
  yield* attemptFindings('admin port', adminPort(config))
  yield await encryption(config)
  yield* attemptFindings('certificate', certificate(config))
  yield* attemptFindings('proxies', proxies(config))
}

async function* adminPort(config: Config): AsyncGenerator<Finding> {
  const place = adminPlace(config)
  if (place) yield await listeningFinding('admin port', place)
}

async function encryption(config: Config): Promise<Finding> {
  const warning = await clearTextWarning(config)
  if (warning !== undefined) return adviceFinding('warning', 'encryption', warning)
  if (config['tls-cert'] !== undefined) return finding('ok', 'encryption', 'TLS')
  const message = config['trust-proxy']
    ? 'is left to the proxy'
    : 'not needed on this machine alone'
  return finding('ok', 'encryption', message)
}

async function* certificate(config: Config): AsyncGenerator<Finding> {
  const source = await openCertificate(config, pino({ level: 'silent' }), { pollIntervalMs: 0 })
  if (!source) return
  await source.close()
  const { 'tls-cert': path = '', 'tls-key': key = '' } = config
  const read = source.current()
  const warnings = certificateWarnings({ certificate: path, key }, read, Date.now())
  for (const warning of warnings) yield adviceFinding('warning', 'certificate', warning)
  const end = new Date(read.validToMs).toISOString()
  if (warnings.length === 0) yield finding('ok', 'certificate', `${path}, valid until ${end}`)
}

async function* proxies(config: Config): AsyncGenerator<Finding> {
  const known = checkProxies(config)
  if (known.length > 0) yield finding('ok', 'proxies', `believed: ${known.join(', ')}`)
}

/** Whether this process could listen at `place`, as the server is to, tried for a moment. */
async function listeningFinding(check: string, place: ListeningPlace): Promise<Finding> {
  const { host, port } = place
  const server = createServer()
  try {
    server.listen(port, host)
    await once(server, 'listening')
    return finding('ok', check, port === 0 ? `on ${host}, any port` : `on ${host} port ${port}`)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') {
      return finding('skipped', check, `${host} port ${port} is taken: by the server, if it runs`)
    }
    return adviceFinding('problem', check, adviceOf(explainListening(error, place)))
  } finally {
    server.close()
  }
}
