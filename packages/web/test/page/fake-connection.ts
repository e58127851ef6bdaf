import { signal } from '@preact/signals'
import { ApiError } from '../../page/api/api-error.ts'
import type { Connection } from '../../page/api/connection.ts'

interface Asked {
  readonly method: string
  readonly path: string
  readonly init: RequestInit
  answer(response?: Response): Promise<void>
  fail(status: number, message?: string): Promise<void>
}

/** A connection whose requests are answered when the test says so. */
export function fakeConnection() {
  const asked: Asked[] = []
  const isRefused = signal(false)
  const connection: Connection = {
    customer: 'anna',
    isRefused,
    renew: () => {},
    url: (path) => `http://files.example/${path}`,
    attempt: (send) => send({}),
    request: (path, init = {}) =>
      new Promise((resolve, reject) => {
        asked.push({
          method: init.method ?? 'GET',
          path,
          init,
          async answer(response = new Response('OK')) {
            resolve(response)
            await settled()
          },
          async fail(status, message = '') {
            reject(new ApiError(status, message))
            await settled()
          },
        })
      }),
  }
  return { connection, asked, lines: () => asked.map(({ method, path }) => `${method} ${path}`) }
}

/** Waits until all that was promised has been done. */
export const settled = () => new Promise<void>((done) => setImmediate(done))
