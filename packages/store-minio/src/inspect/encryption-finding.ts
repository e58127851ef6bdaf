import { finding, isLoopbackHost, type Finding } from '@holdfast/core'

/** Whether files are encrypted on their way to `endpoint`, where they leave this machine. */
export function encryptionFinding(endpoint: string): Finding {
  const check = 'encryption'
  const { protocol, hostname } = new URL(endpoint)
  if (protocol === 'https:') return finding('ok', check, 'TLS on the way to the server')
  if (isLoopbackHost(hostname)) {
    return finding('ok', check, 'not needed: the server, or a proxy to it, is on this machine')
  }
  const message = `files go to ${hostname} in clear, where whoever is on the way can read and change them`
  return finding('warning', check, message, `Give the server a certificate, and use https://`)
}
