import { expect } from 'chai'
import type { RunningService } from './running-service.ts'

/** The URL of a link of anna's to upload. */
export async function makeUploadLink(
  service: RunningService,
  name: string,
  wishes = {},
): Promise<string> {
  const body = JSON.stringify({ verb: 'upload', ...wishes })
  const answer = await service.anna.send('POST', `/link/${encodeURIComponent(name)}`, { body })
  expect(answer.bytes.toString()).to.include('"url"')
  const { url } = JSON.parse(answer.bytes.toString()) as { readonly url: string }
  expect(url.startsWith(`${service.url}/upload/${encodeURIComponent(name)}?link=`)).to.equal(true)
  return url
}
