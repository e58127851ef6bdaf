import { auth, runApp, type RunningApp } from '../../support/running-app.ts'

type Headers = Readonly<Record<string, string>>

export const version = { 'Upload-Draft-Interop-Version': '8' }
export const piece = { 'Content-Type': 'application/partial-upload' }

interface Answer {
  readonly status: number
  readonly complete: string | null
  readonly offset: string | null
  readonly headers: { get(name: string): string | null }
  readonly body: string
}

/** A customer who speaks the draft. */
export function createClient({ url }: RunningApp) {
  const send = async (
    method: string,
    path: string,
    headers: Headers,
    body?: string,
  ): Promise<Answer> => {
    const answer = await fetch(new URL(path, url), {
      method,
      headers: { ...auth, ...version, ...headers },
      ...(body !== undefined && { body }),
    })
    return {
      status: answer.status,
      complete: answer.headers.get('upload-complete'),
      offset: answer.headers.get('upload-offset'),
      headers: answer.headers,
      body: await answer.text(),
    }
  }
  const append = (upload: string, offset: number, complete: boolean, body: string, more = {}) =>
    send(
      'PATCH',
      upload,
      {
        ...piece,
        'Upload-Offset': `${offset}`,
        'Upload-Complete': complete ? '?1' : '?0',
        ...more,
      },
      body,
    )
  return {
    send,
    append,
    /** Begins the upload of `a.txt` with the first bytes of it. */
    async begin(body: string, headers: Headers = {}) {
      const answer = await send(
        'PUT',
        '/upload/a.txt',
        { 'Upload-Complete': '?0', ...headers },
        body,
      )
      const location = answer.headers.get('location') ?? 'none'
      return { ...answer, upload: new URL(location, new URL('/upload/a.txt', url)).pathname }
    },
  }
}

export const running = () => runApp({ resumableDraft: true })
export const read = async ({ files }: RunningApp) => {
  const chunks: Uint8Array[] = []
  for await (const chunk of (await files.serve('a.txt')).content) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}
