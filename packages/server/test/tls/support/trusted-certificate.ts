import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { makeCertificate, type Certificate } from '@holdfast/testing'

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
