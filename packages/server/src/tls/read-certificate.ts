import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto'
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import { SetupError } from '@holdfast/core'
import type { ServerCertificate } from '@holdfast/http-koa'
import { describeDenial } from '@holdfast/credentials-file'

/** The paths of the two files, both PEM. */
export interface CertificateFiles {
  readonly certificate: string
  readonly key: string
}

/** A certificate and key that belong together, with what there is to know of them. */
export interface ReadCertificate extends ServerCertificate {
  /** When the whole chain is valid: from its youngest to its first that expires, in milliseconds since 1970. */
  readonly validFromMs: number
  readonly validToMs: number
  /** The permission bits of the key's file; `undefined` where the operating system has no such thing. */
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

// Without it, opening a named pipe would wait for a writer for ever; Windows knows neither.
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
    const remedy = 'give it, and leave to enter its directories, to that user.'
    return new SetupError(`${subject} may not be read (${reason})`, [remedy])
  }
  return new SetupError(`${subject} cannot be read (${messageOf(error)}).`)
}

const exchanged = 'are the two files exchanged?'

function parseChain(text: string, subject: string): [X509Certificate, ...X509Certificate[]] {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? []
  try {
    const [own, ...others] = blocks.map((block) => new X509Certificate(block))
    if (own) return [own, ...others]
  } catch (error) {
    throw new SetupError(`${subject} is damaged (${messageOf(error)})`, ['get it anew.'])
  }
  if (/ PRIVATE KEY-----/.test(text)) {
    throw new SetupError(`${subject} has a key and no certificate`, [exchanged])
  }
  throw new SetupError(`${subject} is no certificate in PEM form`, [
    'turn one in DER form into PEM with: openssl x509 -inform der -in FILE -out FILE.pem',
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
      throw new SetupError(`${subject} has a certificate and no key`, [exchanged])
    }
    throw new SetupError(`${subject} is no private key in PEM form`, [
      'turn one in DER form into PEM with: openssl pkey -inform der -in FILE -out FILE.pem',
    ])
  }
  try {
    return createPrivateKey(text)
  } catch (error) {
    throw new SetupError(`${subject} is damaged (${messageOf(error)})`, ['get it anew.'])
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
