import { advice, type Advice } from '@holdfast/core'
import type { CertificateFiles, ReadCertificate } from './read-certificate.ts'

const dayMs = 24 * 60 * 60 * 1000
const soonMs = 14 * dayMs

/**
 * What is not wrong with a certificate and its key but should not stay so at a time, in milliseconds since 1970: with
 * the remedy.
 */
export function certificateWarnings(
  files: CertificateFiles,
  { validFromMs, validToMs, keyMode }: ReadCertificate,
  nowMs: number,
): readonly Advice[] {
  const warnings: Advice[] = []
  const renew = 'renew it, and the new one is taken without a restart'
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
