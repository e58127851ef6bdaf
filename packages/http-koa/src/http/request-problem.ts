import type { IncomingMessage } from 'node:http'
import { isIPv6 } from 'node:net'
import type { HttpProblem } from '@holdfast/resumable'
import { problems } from './problems.ts'
import { headerValues } from './text.ts'

/**
 * What is wrong with a request that Node's parser has let pass, whatever it asks for; `undefined` as a rule. Its client may
 * have meant another one, so that nothing is to be done for it, and nothing after it on the connection is to be read.
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

/** With the authority, but for what stands before its `@`. */
const absoluteTarget = /^https?:\/\/(?:[^/?#@]*@)?([^/?#]*)/i

/**
 * Whether `url` is a path, `*`, or an absolute URL of a possible host (RFC 9112 §3.2). Any other is never to be parsed: Node
 * prints it as part of a warning, and it may hold the token of a link.
 */
export function isRequestTarget(url: string): boolean {
  if (url.startsWith('/') || url === '*') return true
  const host = absoluteTarget.exec(url)?.[1]
  return host !== undefined && host !== '' && isHost(host)
}

/** Of RFC 3986 §3.2.2, but for the comma: with one it is most likely two, joined on their way. */
const nameAndPort = /^(?:[\w.~!$&'()*+;=-]|%[\da-f]{2})*(?::\d*)?$/i
const literalAndPort = /^\[([^\]]*)\](?::\d*)?$/
/** RFC 3986 §3.2.2, for versions of IP to come. */
const futureAddress = /^v[\da-f]+\.[\w.~!$&'()*+,;=:-]+$/i

function isHost(text: string): boolean {
  if (nameAndPort.test(text)) return true
  const literal = literalAndPort.exec(text)?.[1]
  return literal !== undefined && (isIPv6(literal) || futureAddress.test(literal))
}

function isChunked(coding: string): boolean {
  return coding === 'chunked' || coding.toLowerCase() === 'chunked'
}
