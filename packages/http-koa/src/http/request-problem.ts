import type { IncomingMessage } from 'node:http'
import { isIPv6 } from 'node:net'
import type { HttpProblem } from '@holdfast/resumable'
import { problems } from './problems.ts'
import { headerValues } from './text.ts'

/**
 * What is wrong with a request that Node's parser has accepted, on any path; `undefined` if nothing is. The client may have
 * meant another request, so the server must not process it, nor read anything after it on the connection.
 */
export function requestProblem(request: IncomingMessage): HttpProblem | undefined {
  const { httpVersion, url = '' } = request
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return problems.unknownVersion()
  const hosts = headerValues(request, 'host')
  // RFC 9112 §3.2: exactly one, from HTTP/1.1 on.
  if (hosts.length > 1 || (hosts.length === 0 && httpVersion === '1.1')) return problems.oneHost()
  if (!hosts.every(isHost)) return problems.invalidHost()
  if (!isRequestTarget(url)) return problems.malformedRequest()
  // A fragment is never sent (RFC 9112 §3.2.1), and URL parsers drop it: `/delete/a#b` would delete `a`.
  if (url.includes('#')) return problems.fragmentInTarget()
  const coding = request.headers['transfer-encoding']
  if (coding !== undefined && !isChunked(coding)) return problems.unknownTransferCoding()
  return undefined
}

/** An absolute URL; the group is its authority without the user information before the `@`. */
const absoluteTarget = /^https?:\/\/(?:[^/?#@]*@)?([^/?#]*)/i

/**
 * Whether `url` is a path, `*`, or an absolute URL of a possible host (RFC 9112 §3.2). Do not parse any other: Node prints it in
 * a warning, and it may contain the token of a link.
 */
export function isRequestTarget(url: string): boolean {
  if (url.startsWith('/') || url === '*') return true
  const host = absoluteTarget.exec(url)?.[1]
  return host !== undefined && host !== '' && isHost(host)
}

/** RFC 3986 §3.2.2, but without the comma: a value with a comma is most likely two headers that a proxy has joined. */
const nameAndPort = /^(?:[\w.~!$&'()*+;=-]|%[\da-f]{2})*(?::\d*)?$/i
const literalAndPort = /^\[([^\]]*)\](?::\d*)?$/
/** RFC 3986 §3.2.2, for future versions of IP. */
const futureAddress = /^v[\da-f]+\.[\w.~!$&'()*+,;=:-]+$/i

function isHost(text: string): boolean {
  if (nameAndPort.test(text)) return true
  const literal = literalAndPort.exec(text)?.[1]
  return literal !== undefined && (isIPv6(literal) || futureAddress.test(literal))
}

function isChunked(coding: string): boolean {
  return coding === 'chunked' || coding.toLowerCase() === 'chunked'
}
