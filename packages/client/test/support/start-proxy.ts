import { request as send, type IncomingMessage, type ServerResponse } from 'node:http'
import { startServer, type RunningServer } from './start-server.ts'

/** Whether a request has been answered; if not, the proxy passes it on. */
type Answerer = (request: IncomingMessage, response: ServerResponse) => boolean

/** A reverse proxy on a free port before the service at `port`, which answers itself what `answers` says. */
export function startProxy(
  port: number,
  answers: Answerer = () => false,
  pathOf = (url: string) => url,
): Promise<RunningServer> {
  return startServer((request, response) => {
    if (answers(request, response)) return
    const { method, url = '', headers } = request
    const target = { host: '127.0.0.1', port, method, path: pathOf(url), headers }
    const onwards = send(target, (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.headers)
      answer.pipe(response)
    })
    onwards.on('error', () => response.destroy())
    response.on('close', () => onwards.destroy())
    request.pipe(onwards)
  })
}
