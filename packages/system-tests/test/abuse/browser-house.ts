import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { credentials } from '@holdfast/testing'

/** What stands between a browser, which cannot send our headers, and the service. */
export interface BrowserHouse {
  readonly url: string
  /** Which scripts ran, by what they asked for below `/ran/`. */
  readonly ran: ReadonlySet<string>
  stop(): Promise<void>
}

const protective = [
  'content-disposition',
  'content-security-policy',
  'cross-origin-resource-policy',
  'x-content-type-options',
]

/**
 * Below `/serve/` passes requests on as the customer, and answers as they are. Below `/naive/serve/` takes from them what
 * protects, and allows every origin to read. Every other path is one of `pages`.
 */
export async function startBrowserHouse(
  service: string,
  pages: Readonly<Record<string, string>>,
): Promise<BrowserHouse> {
  const ran = new Set<string>()
  const server = createServer((incoming, response) => {
    const path = incoming.url ?? ''
    const [, isNaive, target] = /^(\/naive)?(\/serve\/.*)$/.exec(path) ?? []
    if (target === undefined) {
      if (path.startsWith('/ran/')) ran.add(path.slice('/ran/'.length))
      response.writeHead(200, { 'Content-Type': 'text/html', 'Access-Control-Allow-Origin': '*' })
      return response.end(pages[path] ?? '')
    }
    request(service + target, { headers: credentials }, (answer) => {
      const headers: OutgoingHttpHeaders = isNaive ? withoutProtection(answer) : answer.headers
      response.writeHead(answer.statusCode ?? 500, headers)
      answer.pipe(response)
    }).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ran,
    async stop() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

function withoutProtection({ headers }: IncomingMessage): OutgoingHttpHeaders {
  const rest = Object.entries(headers).filter(([name]) => !protective.includes(name))
  return { ...Object.fromEntries(rest), 'access-control-allow-origin': '*' }
}
