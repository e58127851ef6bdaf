import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto'
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { adviceText, SetupError, advice, type Advice, messageOf } from '@holdfast/core'
import { openWatchedFiles, describeDenial } from '@holdfast/credentials-file'
import type { ServerCertificate } from '@holdfast/http-koa'
import type { Logger } from 'pino'
import type { Config } from '../config/resolve-config.ts'

/** The server's certificate and key, from files that may change at any time. */
export interface CertificateSource {
  current(): ReadCertificate
  /** From now on calls `use` with every new certificate. */
  onReplaced(use: (certificate: ReadCertificate) => void): void
  /** Since when the content of the files has been refused; `undefined` if it is not. */
  refusedSince(): Date | undefined
  /** Reads the files again; resolves with `false` if they were refused, so that the old certificate stays in use. */
  reload(): Promise<boolean>
  /** Stops watching the files. */
  close(): Promise<void>
}

export interface OpenCertificateOptions {
  /** How often the files are checked for changes, in milliseconds; 0 for never. Default: 1,000. */
  readonly pollIntervalMs?: number
  /** How often warnings about the certificate are repeated, in milliseconds. Default: a day. */
  readonly warningIntervalMs?: number
  /** Called for every change, whether it is accepted or refused. */
  readonly onReload?: (isTaken: boolean) => void
}

const dayMs = 24 * 60 * 60 * 1000

/**
 * Opens the certificate that the configuration names, if any, and logs every later change. Certificate and key are replaced only
 * together: while the two files do not match, for example because one is not written yet, the earlier pair stays in use.
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
    // At the first check the new certificate may be there without its key.
    looksBeforeRefusal: 2,
    onTaken(next, before) {
      if (isSame(before, next)) return
      use(next)
      log.info({ expires: new Date(next.validToMs).toISOString() }, 'TLS certificate reloaded')
      onReload?.(true)
      warn(next)
    },
    onRefused({ message: reason }) {
      log.error({ reason }, 'TLS certificate refused; the earlier one stays in use')
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
  throw new SetupError(`TLS needs a certificate and its key, but only --tls-${given} is set:`, [
    `give --tls-${missing}, too. Both in one file is fine: name it twice.`,
  ])
}

function isSame(one: ReadCertificate, other: ReadCertificate): boolean {
  return one.certificate === other.certificate && one.privateKey === other.privateKey
}

/** The paths of the two files, both PEM. */
export interface CertificateFiles {
  readonly certificate: string
  readonly key: string
}

/** A matching certificate and key, with their properties. */
export interface ReadCertificate extends ServerCertificate {
  /** When the whole chain is valid: from its latest beginning to its first expiry, in milliseconds since 1970. */
  readonly validFromMs: number
  readonly validToMs: number
  /** The permission bits of the key's file; `undefined` if the operating system has none. */
  readonly keyMode: number | undefined
}

/**
 * Reads a certificate, with its chain and its key.
 *
 * @throws SetupError that names the file and the remedy when a server could not use them
 */
export async function readCertificate(files: CertificateFiles): Promise<ReadCertificate> {
  const inCertificate = `The TLS certificate ${files.certificate} (--tls-cert)`
  const inKey = `The TLS key ${files.key} (--tls-key)`
  const { text: certificate } = await readPem(files.certificate, inCertificate)
  const { text: privateKey, mode: keyMode } = await readPem(files.key, inKey)
  const [own, ...others] = parseChain(certificate, inCertificate)
  if (!own.checkPrivateKey(parseKey(privateKey, inKey))) {
    throw new SetupError(`${inKey} does not belong to the certificate ${files.certificate}:`, [
      "give the key that it was made with, and put the server's own certificate first in its file.",
    ])
  }
  // Loaded only now, since a server without TLS does not need it.
  const { createSecureContext } = await import('node:tls')
  try {
    createSecureContext({ cert: certificate, key: privateKey })
  } catch (error) {
    throw new SetupError(`${inCertificate} cannot be used: ${messageOf(error)}.`)
  }
  const chain = [own, ...others]
  return {
    certificate,
    privateKey,
    validFromMs: Math.max(...chain.map(({ validFrom }) => Date.parse(validFrom))),
    validToMs: Math.min(...chain.map(({ validTo }) => Date.parse(validTo))),
    keyMode,
  }
}

// Without this flag, opening a named pipe would wait for a writer forever. Windows has neither.
const nonBlocking = process.platform === 'win32' ? 0 : constants.O_NONBLOCK

async function readPem(path: string, subject: string) {
  const file = await open(path, constants.O_RDONLY | nonBlocking).catch((error: unknown) => {
    throw unreadable(subject, error)
  })
  try {
    const stats = await file.stat()
    if (!stats.isFile()) throw new SetupError(`${subject} is not an ordinary file.`)
    return {
      text: await file.readFile('latin1'),
      mode: process.platform === 'win32' ? undefined : stats.mode & 0o777,
    }
  } finally {
    await file.close()
  }
}

function unreadable(subject: string, error: unknown): SetupError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code === 'ENOENT')
    return new SetupError(`${subject} does not exist`, ['give the right path.'])
  if (code === 'EACCES') {
    const reason = describeDenial(error) ?? messageOf(error)
    const remedy = 'let that user read it and enter its directories.'
    return new SetupError(`${subject} may not be read (${reason})`, [remedy])
  }
  return new SetupError(`${subject} cannot be read (${messageOf(error)}).`)
}

const swapped = 'are the two files swapped?'

function parseChain(text: string, subject: string): [X509Certificate, ...X509Certificate[]] {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? []
  try {
    const [own, ...others] = blocks.map((block) => new X509Certificate(block))
    if (own) return [own, ...others]
  } catch (error) {
    throw new SetupError(`${subject} is damaged (${messageOf(error)})`, ['get a new copy.'])
  }
  if (/ PRIVATE KEY-----/.test(text)) {
    throw new SetupError(`${subject} has a key and no certificate`, [swapped])
  }
  throw new SetupError(`${subject} is not a certificate in PEM form`, [
    'convert a file in DER form with: openssl x509 -inform der -in FILE -out FILE.pem',
  ])
}

function parseKey(text: string, subject: string): KeyObject {
  if (/BEGIN ENCRYPTED PRIVATE KEY|Proc-Type: 4,ENCRYPTED/.test(text)) {
    throw new SetupError(`${subject} is encrypted, and the server cannot ask for its password`, [
      'write a plain one, readable by this user only, with: openssl pkey -in FILE -out PLAIN-FILE',
    ])
  }
  if (!/ PRIVATE KEY-----/.test(text)) {
    if (/-----BEGIN CERTIFICATE-----/.test(text)) {
      throw new SetupError(`${subject} has a certificate and no key`, [swapped])
    }
    throw new SetupError(`${subject} is not a private key in PEM form`, [
      'convert a file in DER form with: openssl pkey -inform der -in FILE -out FILE.pem',
    ])
  }
  try {
    return createPrivateKey(text)
  } catch (error) {
    throw new SetupError(`${subject} is damaged (${messageOf(error)})`, ['get a new copy.'])
  }
}

const soonMs = 14 * dayMs

/**
 * Warnings about a usable certificate and key at the time `nowMs`, in milliseconds since 1970, each with its remedy.
 */
export function certificateWarnings(
  files: CertificateFiles,
  { validFromMs, validToMs, keyMode }: ReadCertificate,
  nowMs: number,
): readonly Advice[] {
  const warnings: Advice[] = []
  const renew = 'renew it; the server loads the new one without a restart'
  const at = (timeMs: number) => new Date(timeMs).toISOString()
  if (validToMs <= nowMs) {
    warnings.push(
      advice(
        `${files.certificate}: the TLS certificate expired at ${at(validToMs)}, and clients will refuse it`,
        renew,
      ),
    )
  } else if (validToMs - nowMs <= soonMs) {
    const hours = Math.floor((validToMs - nowMs) / (dayMs / 24))
    const left = hours < 48 ? `${hours} hours` : `${Math.floor(hours / 24)} days`
    warnings.push(
      advice(
        `${files.certificate}: the TLS certificate expires in ${left}, at ${at(validToMs)}`,
        renew,
      ),
    )
  }
  if (validFromMs > nowMs) {
    warnings.push(
      advice(
        `${files.certificate}: the TLS certificate is not valid before ${at(validFromMs)}, and clients will refuse it`,
        "check this machine's clock",
      ),
    )
  }
  if (keyMode !== undefined && (keyMode & 0o006) !== 0) {
    const done = (keyMode & 0o002) === 0 ? 'read' : 'written'
    warnings.push(
      advice(
        `${files.key}: the TLS key may be ${done} by every user of this machine`,
        `run: chmod o= ${files.key}`,
      ),
    )
  }
  return warnings
}
