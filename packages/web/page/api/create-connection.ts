import { signal } from '@preact/signals'
import { apiErrorOf, isRefusedLogin, unreachable } from './api-error.ts'
import type { Connection, Credentials } from './connection.ts'

/** The routes lie beside the page, wherever that is mounted. */
const base = new URL('.', document.baseURI)

export function createConnection({ customer, password: first }: Credentials): Connection {
  let password = first
  const isRefused = signal(false)
  const note = (error: unknown) => {
    if (isRefusedLogin(error)) isRefused.value = true
  }
  const headers = () => ({
    'x-auth-name': asHeader(customer),
    'x-auth-password': asHeader(password),
  })
  return {
    customer,
    isRefused,
    note,
    headers,
    renew(renewed) {
      password = renewed
      isRefused.value = false
    },
    url: (path) => new URL(path, base).href,
    async request(path, init = {}) {
      try {
        return await send(new URL(path, base), {
          ...init,
          headers: { ...headers(), ...(init.headers as Record<string, string> | undefined) },
        })
      } catch (error) {
        note(error)
        throw error
      }
    },
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
