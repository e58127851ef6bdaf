import { adviceText, SetupError } from '@holdfast/core'
import { watchPaths } from '@holdfast/credentials-file'
import type { Logger } from 'pino'
import type { Config } from '../config/resolve-config.ts'
import { certificateWarnings } from './certificate-warnings.ts'
import type { CertificateFiles, ReadCertificate } from './read-certificate.ts'

/** The server's certificate and key, from files that may change at any time. */
export interface CertificateSource {
  current(): ReadCertificate
  /** Calls `use` with every other certificate from now on. */
  onReplaced(use: (certificate: ReadCertificate) => void): void
  /** Since when what the files hold has been refused; `undefined` where it is not. */
  refusedSince(): Date | undefined
  /** Reads the files again; `false` when they were refused and the certificate stays as it was. */
  reload(): Promise<boolean>
  /** Stops watching the files. */
  close(): Promise<void>
}

export interface OpenCertificateOptions {
  /** Milliseconds between two looks at the files. Default: 1,000. */
  readonly pollIntervalMs?: number
  /** Milliseconds between two warnings of what should be mended. Default: a day. */
  readonly warningIntervalMs?: number
  /** Told of every change, whether it is taken or refused. Default: nobody is. */
  readonly onReload?: (isTaken: boolean) => void
}

const dayMs = 24 * 60 * 60 * 1000

/**
 * Opens the certificate that the configuration names, if any, and tells the log of every later change. A certificate is
 * taken together with its key or not at all: while they do not belong together, as when one of the files has yet to be
 * written, the earlier pair stays.
 *
 * @throws SetupError that names the file and the remedy
 */
export async function openCertificate(
  config: Config,
  log: Logger,
  { pollIntervalMs = 1_000, warningIntervalMs = dayMs, onReload }: OpenCertificateOptions = {},
): Promise<CertificateSource | undefined> {
  const files = filesOf(config)
  if (files === undefined) return undefined
  // Loaded only now: a server without TLS starts faster without it.
  const { readCertificate } = await import('./read-certificate.ts')
  let current = await readCertificate(files)
  let use: (certificate: ReadCertificate) => void = () => {}
  let refused: string | undefined
  let told: string | undefined
  let refusedSince: Date | undefined
  let reading: Promise<unknown> = Promise.resolve()

  const warn = () => {
    for (const warning of certificateWarnings(files, current, Date.now()))
      log.warn(adviceText(warning))
  }
  const take = (next: ReadCertificate) => {
    const isOther = !isSame(current, next)
    refused = told = refusedSince = undefined
    if (isOther) use(next)
    current = next
    if (!isOther) return
    log.info({ expires: new Date(next.validToMs).toISOString() }, 'TLS certificate reloaded')
    onReload?.(true)
    warn()
  }
  const read = async (isAsked: boolean): Promise<boolean> => {
    try {
      take(await readCertificate(files))
      return true
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      // Told at the second look, since at the first the files may be half-way through being written.
      const isStanding = reason === refused
      refused = reason
      if (!isAsked && (!isStanding || reason === told)) return false
      told = reason
      refusedSince ??= new Date()
      log.error({ reason }, 'TLS certificate refused; the old one stays')
      onReload?.(false)
      return false
    }
  }
  const readInTurn = (isAsked: boolean): Promise<boolean> => {
    const result = reading.then(() => read(isAsked))
    reading = result
    return result
  }

  warn()
  const watch = watchPaths([files.certificate, files.key], {
    intervalMs: pollIntervalMs,
    onChanged: () => readInTurn(false),
  })
  const reminder = setInterval(warn, warningIntervalMs).unref()
  return {
    current: () => current,
    onReplaced(callback) {
      use = callback
    },
    refusedSince: () => refusedSince,
    reload: () => readInTurn(true),
    async close() {
      clearInterval(reminder)
      await watch.close()
      await reading
    },
  }
}

function filesOf({
  'tls-cert': certificate,
  'tls-key': key,
}: Config): CertificateFiles | undefined {
  if (certificate === undefined && key === undefined) return undefined
  if (certificate !== undefined && key !== undefined) return { certificate, key }
  const [given, missing] = key === undefined ? ['cert', 'key'] : ['key', 'cert']
  throw new SetupError(`TLS needs a certificate and its key, and --tls-${given} is alone:`, [
    `give --tls-${missing}, too. Both in one file is fine: name it twice.`,
  ])
}

function isSame(one: ReadCertificate, other: ReadCertificate): boolean {
  return one.certificate === other.certificate && one.privateKey === other.privateKey
}
