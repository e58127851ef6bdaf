import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

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
