import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeCertificate } from '../../../packages/testing/src/tls-site.ts'
import type { CertificateFiles } from './subject.ts'

/** Writes a certificate for 127.0.0.1 and its key into a folder below `directory`. Needs the program `openssl`. */
export async function writeCertificate(directory: string): Promise<CertificateFiles> {
  const folder = join(directory, 'tls')
  await mkdir(folder)
  const made = await makeCertificate()
  const files = { certificate: join(folder, 'certificate.pem'), key: join(folder, 'key.pem') }
  await writeFile(files.certificate, made.certificate)
  await writeFile(files.key, made.privateKey, { mode: 0o600 })
  return files
}
