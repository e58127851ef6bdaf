import type { BenchRequest } from '../subjects/subject.ts'
import { sendBody } from './send-body.ts'

const version = { 'tus-resumable': '1.0.0' }
const contentType = { 'content-type': 'application/offset+octet-stream' }

/** The request that begins an upload by tus, and has bytes of it in its body if `isWithUpload`. `name` is in Base64. */
export function tusCreation(
  creation: BenchRequest,
  { name, size, isWithUpload }: { name: string; size: number; isWithUpload: boolean },
): BenchRequest {
  const headers = {
    ...creation.headers,
    ...version,
    'upload-length': `${size}`,
    'upload-metadata': `filename ${name}`,
    ...(isWithUpload && contentType),
  }
  return { ...creation, headers }
}

/**
 * Uploads a file by tus in pieces of these sizes, of which the first goes with the creation; 0 for none. Resolves with the seconds
 * until all is answered; rejects when the server has not all of it then.
 */
export async function uploadByTus(
  port: number,
  creation: BenchRequest,
  [first = 0, ...pieces]: readonly number[],
): Promise<number> {
  const size = pieces.reduce((sum, piece) => sum + piece, first)
  const begin = performance.now()
  const name = Buffer.from('large').toString('base64')
  const request = tusCreation(creation, { name, size, isWithUpload: first > 0 })
  const created = await sendBody(port, request, first)
  const { pathname: path } = new URL(
    headerIn(created, 'location'),
    `http://127.0.0.1:${port}${creation.path}`,
  )
  let [offset, answer] = [first, created]
  for (const piece of pieces) {
    const headers = {
      ...{ ...creation.headers, ...version, ...contentType },
      'upload-offset': `${offset}`,
    }
    answer = await sendBody(port, { ...creation, method: 'PATCH', path, headers }, piece)
    offset += piece
  }
  const stored = headerIn(answer, 'upload-offset')
  if (stored !== `${size}`) throw new Error(`${stored} of ${size} bytes were stored`)
  return (performance.now() - begin) / 1000
}

const headerIn = (answer: string, name: string) =>
  new RegExp(`^${name}: (.*?)\\r$`, 'im').exec(answer)?.[1] ?? ''
