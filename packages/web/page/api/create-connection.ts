import { createClient, type ClientOptions } from '@holdfast/client/browser'
import { signal } from '@preact/signals'
import type { Connection, CustomerCredentials } from './connection.ts'

/** The routes are beside the page, wherever that is mounted. */
const base = new URL('.', document.baseURI)

export function createConnection({ customer, password: first }: CustomerCredentials): Connection {
  let password = first
  const isRefused = signal(false)
  let refusal: Error | undefined
  const options: ClientOptions = {
    url: base,
    name: customer,
    password() {
      // The server counts each request with a wrong password as a guess, and after some guesses delays even the right one.
      if (refusal) throw refusal
      return password
    },
    onRefused(error) {
      refusal = error
      isRefused.value = true
    },
  }
  return {
    customer,
    client: createClient({ ...options, retries: 0 }),
    // A break costs nothing, and where no server answers, the user learns that after some seconds.
    downloads: createClient({ ...options, retries: 3 }),
    isRefused,
    renew(renewed) {
      password = renewed
      refusal = undefined
      isRefused.value = false
    },
    url: (path) => new URL(path, base).href,
  }
}
