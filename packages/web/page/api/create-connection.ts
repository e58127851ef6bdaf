import { signal } from '@preact/signals'
import { apiErrorOf, isRefusedLogin, unreachable } from './api-error.ts'
import type { Connection, Credentials, Send } from './connection.ts'

/** The routes lie beside the page, wherever that is mounted. */
const base = new URL('.', document.baseURI)

export function createConnection({ customer, password: first }: Credentials): Connection {
  let password = first
  const isRefused = signal(false)
  let refusal: unknown
  const headers = () => ({
    'x-auth-name': asHeader(customer),
    'x-auth-password': asHeader(password),
  })
  async function attempt<Result>(send: Send<Result>): Promise<Result> {
    // The server counts each as a guess, and after some of them lets even the right password wait.
    if (isRefused.peek()) throw refusal
    const shown = password
    try {
      return await send(headers())
    } catch (error) {
      if (!isRefusedLogin(error)) throw error
      if (password !== shown) return attempt(send)
      refusal = error
      isRefused.value = true
      throw error
    }
  }
  return {
    customer,
    isRefused,
    attempt,
    renew(renewed) {
      password = renewed
      isRefused.value = false
    },
    url: (path) => new URL(path, base).href,
    request: (path, init = {}) =>
      attempt((headers) =>
        send(new URL(path, base), {
          ...init,
          headers: { ...headers, ...(init.headers as Record<string, string> | undefined) },
        }),
      ),
  }
}

async function send(url: URL, init: RequestInit): Promise<Response> {
  const response = await fetch(url, { cache: 'no-store', ...init }).catch((error: unknown) => {
    if (init.signal?.aborted) throw error
    throw unreachable()
  })
  if (response.ok) return response
  const body = await response.text().catch(() => '')
  throw apiErrorOf(response.status, body, response.headers.get('Retry-After'))
}

/** `fetch` takes one character a byte; the server reads the bytes as UTF-8. */
function asHeader(text: string): string {
  return String.fromCharCode(...new TextEncoder().encode(text))
}
