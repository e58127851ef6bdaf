import { toAnswer, type Answer } from './answer.ts'

export interface Credentials {
  readonly name: string
  readonly password: string
}

type Content = string | Uint8Array<ArrayBuffer>
type HeaderFields = Readonly<Record<string, string>>

/** The service as one customer sees it, through fetch. */
export interface CustomerClient {
  /** The customer's authentication headers, as a client puts UTF-8 into them. */
  readonly headers: HeaderFields
  send(method: string, path: string, init?: Omit<RequestInit, 'method'>): Promise<Answer>
  /** POST /upload with the FormData of the platform. */
  upload(name: string, content: Content, headers?: HeaderFields): Promise<Answer>
  /** PUT /upload/:filename. */
  put(name: string, content: Content, headers?: HeaderFields): Promise<Answer>
  serve(name: string, headers?: HeaderFields): Promise<Answer>
  remove(name: string): Promise<Answer>
  list(query?: HeaderFields): Promise<Answer>
  /** The names that are listed; none where there are no files yet. */
  names(query?: HeaderFields): Promise<readonly string[]>
  /** What is served under a name; `undefined` where nothing is. */
  text(name: string): Promise<string | undefined>
}

export function createCustomerClient(url: string, credentials: Credentials): CustomerClient {
  const headers = authHeaders(credentials)
  const send: CustomerClient['send'] = async (method, path, init = {}) => {
    const all = { ...headers, ...(init.headers as HeaderFields | undefined) }
    return toAnswer(await fetch(`${url}${path}`, { ...init, method, headers: all }))
  }
  const serve: CustomerClient['serve'] = (name, headers = {}) =>
    send('GET', `/serve/${encodeURIComponent(name)}`, { headers })
  const list: CustomerClient['list'] = (query = {}) =>
    send('GET', `/list?${new URLSearchParams(query).toString()}`)

  return {
    headers,
    send,
    upload: (name, content, headers = {}) =>
      send('POST', '/upload', { headers, body: formData(name, content) }),
    put: (name, content, headers = {}) =>
      send('PUT', `/upload/${encodeURIComponent(name)}`, { headers, body: content }),
    serve,
    remove: (name) => send('DELETE', `/delete/${encodeURIComponent(name)}`),
    list,
    async names(query) {
      const { status, bytes } = await list(query)
      return status === 200 ? (JSON.parse(bytes.toString()) as string[]) : []
    },
    async text(name) {
      const { status, bytes } = await serve(name)
      return status === 200 ? bytes.toString() : undefined
    },
  }
}

/** Header values are bytes to HTTP; clients write UTF-8, which to JavaScript's fetch are that many Latin-1 characters. */
export function authHeaders({ name, password }: Credentials): HeaderFields {
  const bytes = (text: string) => Buffer.from(text).toString('latin1')
  return { 'x-auth-name': bytes(name), 'x-auth-password': bytes(password) }
}

export function formData(name: string, content: Content, fields: HeaderFields = {}): FormData {
  const form = new FormData()
  for (const [field, value] of Object.entries(fields)) form.append(field, value)
  form.append('file', new Blob([content]), name)
  return form
}
