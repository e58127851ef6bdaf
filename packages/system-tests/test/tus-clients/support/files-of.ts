import { createHash } from 'node:crypto'
import { credentials } from '@holdfast/testing'
import { expect } from 'chai'

/** The customer's files and uploads on the server at `url()`. */
export function filesOf(url: () => string) {
  const ask = (path: string, method = 'GET', more = {}) =>
    fetch(new URL(path, url()), { method, headers: { ...credentials, ...more } })
  return {
    list: async () => {
      const answer = await ask('/list')
      // An empty list is answered as an error.
      return answer.status === 200 ? ((await answer.json()) as string[]) : []
    },
    remove: async (name: string) => {
      expect((await ask(`/delete/${encodeURIComponent(name)}`, 'DELETE')).status).to.equal(200)
    },
    digestOf: async (name: string) => {
      const answer = await ask(`/serve/${encodeURIComponent(name)}`)
      return createHash('sha256')
        .update(await answer.bytes())
        .digest('hex')
    },
    /** Whether the server knows an upload, whose URL leads through a line perhaps. */
    isThere: async (upload: string) => {
      const path = new URL(upload).pathname
      return (await ask(path, 'HEAD', { 'Tus-Resumable': '1.0.0' })).status === 200
    },
  }
}
