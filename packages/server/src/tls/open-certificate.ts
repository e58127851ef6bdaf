import { adviceText, SetupError } from '@holdfast/core'
import { openWatchedFiles } from '@holdfast/credentials-file'
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
  /** Milliseconds between two looks at the files; 0 for none. Default: 1,000. */
  readonly pollIntervalMs?: number
  /** Milliseconds between two warnings of what should be mended. Default: a day. */
  readonly warningIntervalMs?: number
  /** Called for every change, whether it is taken or refused. */
  readonly onReload?: (isTaken: boolean) => void
}

const dayMs = 24 * 60 * 60 * 1000

/**
 * Opens the certificate that the configuration names, if any, and logs every later change. A certificate is
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
  let use: (certificate: ReadCertificate) => void = () => {}
  const warn = (certificate: ReadCertificate) => {
    for (const warning of certificateWarnings(files, certificate, Date.now())) {
      log.warn(adviceText(warning))
    }
  }
  const watched = await openWatchedFiles<ReadCertificate, Error>([files.certificate, files.key], {
    read: async () => {
      try {
        return { value: await readCertificate(files) }
      } catch (cause) {
        const error = cause instanceof Error ? cause : new Error(String(cause))
        return { refusal: { error, reason: error.message, isFinal: false } }
      }
    },
    pollIntervalMs,
    // At the first look the new certificate may be there without its key.
    looksBeforeRefusal: 2,
    onTaken(next, before) {
      if (isSame(before, next)) return
      use(next)
      log.info({ expires: new Date(next.validToMs).toISOString() }, 'TLS certificate reloaded')
      onReload?.(true)
      warn(next)
    },
    onRefused({ message: reason }) {
      log.error({ reason }, 'TLS certificate refused; the old one stays')
      onReload?.(false)
    },
  })

  warn(watched.current())
  const reminder = setInterval(() => warn(watched.current()), warningIntervalMs).unref()
  return {
    current: () => watched.current(),
    onReplaced(callback) {
      use = callback
    },
    refusedSince: () => watched.refusedSince(),
    reload: () => watched.reload(),
    close() {
      clearInterval(reminder)
      return watched.close()
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
