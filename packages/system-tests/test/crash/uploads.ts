import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '@holdfast/testing'
import { customer, type CrashSite } from './crash-site.ts'
import { beginSending, type Answer } from './send.ts'

/** A create-only upload of `content`, in the middle of which somebody else stores `rival` under the name. */
export async function createAgainstRival(
  url: string,
  site: CrashSite,
  name: string,
  content: Buffer,
  rival: Buffer,
): Promise<Answer> {
  const { outgoing, answer } = beginSending(url, 'PUT', `/upload/${name}`, {
    'content-length': content.length,
    'if-none-match': '*',
  })
  const half = content.length / 2
  outgoing.write(content.subarray(0, half))
  const isTaken = () => existsSync(join(site.data, 'files', customer, name))
  // On the second try the name is taken from the beginning.
  await until('the upload is under way', async () => isTaken() || (await site.litter()).length > 0)
  if (!isTaken()) await site.store({ [name]: rival })
  outgoing.end(content.subarray(half))
  return answer
}

export interface StalledUpload {
  /** Sends the rest. */
  finish(): Promise<Answer>
}

/** An upload of which a half has arrived at the server. */
export async function stallUpload(
  url: string,
  site: CrashSite,
  { name, content }: { readonly name: string; readonly content: Buffer },
): Promise<StalledUpload> {
  const headers = { 'content-length': content.length }
  const { outgoing, answer } = beginSending(url, 'PUT', `/upload/${name}`, headers)
  const half = content.length / 2
  outgoing.write(content.subarray(0, half))
  await until('the upload is under way', async () => (await site.litter()).length > 0)
  return {
    finish() {
      outgoing.end(content.subarray(half))
      return answer
    },
  }
}
