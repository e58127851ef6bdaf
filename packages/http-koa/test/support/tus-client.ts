import { auth } from './running-app.ts'

type Headers = Readonly<Record<string, string>>

/** What a request got, and the headers of tus with it. */
export interface TusAnswer {
  readonly status: number
  readonly headers: globalThis.Headers
  /** As a number, if there is one. */
  readonly offset: number | undefined
  readonly body: string
}

/** The one customer, who speaks tus. */
export interface TusClient {
  send(method: string, url: string, headers?: Headers, body?: string): Promise<TusAnswer>
  /** Begins an upload of the file `a.txt`; `headers` add to those that are needed. */
  begin(headers: Headers, body?: string): Promise<TusAnswer & { readonly url: string }>
  /** PATCH at `offset`. */
  append(url: string, offset: number, body: string, headers?: Headers): Promise<TusAnswer>
  head(url: string): Promise<TusAnswer>
}

const protocol = { ...auth, 'Tus-Resumable': '1.0.0' }
export const pieceType = { 'Content-Type': 'application/offset+octet-stream' }

export function createTusClient(base: string): TusClient {
  const send: TusClient['send'] = async (method, url, headers = {}, body) => {
    const answer = await fetch(url, {
      method,
      headers: { ...protocol, ...headers },
      ...(body !== undefined && { body }),
    })
    const offset = answer.headers.get('upload-offset')
    return {
      status: answer.status,
      headers: answer.headers,
      offset: offset === null ? undefined : Number(offset),
      body: await answer.text(),
    }
  }
  return {
    send,
    async begin(headers, body) {
      const place = `${base}/resumable`
      const all = { ...named('a.txt'), ...(body !== undefined && pieceType), ...headers }
      const answer = await send('POST', place, all, body)
      const location = answer.headers.get('location') ?? 'not-there'
      return { ...answer, url: new URL(location, place).href }
    },
    append: (url, offset, body, headers = {}) =>
      send('PATCH', url, { ...pieceType, 'Upload-Offset': String(offset), ...headers }, body),
    head: (url) => send('HEAD', url),
  }
}

/** The header that gives the file its name. */
export function named(name: string): Headers {
  return { 'Upload-Metadata': `filename ${base64(name)}` }
}

export function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}
