import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  createSite,
  credentials,
  type HoldfastServer,
  type Site,
  startHoldfast,
} from '@holdfast/testing'

/** A line of the audit trail. */
export type TrailLine = Readonly<Record<string, unknown>>

export const trailName = 'audit.jsonl'

/** A site whose servers keep an audit trail. */
export interface AuditedSite extends Site {
  start(args?: readonly string[]): Promise<HoldfastServer>
  /** The trail; fails where a line of it is not whole. */
  trail(file?: string): Promise<readonly TrailLine[]>
}

export async function createAuditedSite(): Promise<AuditedSite> {
  const site = await createSite()
  return {
    ...site,
    start: (args = []) => startHoldfast(['--audit-log', trailName, ...args], { cwd: site.path }),
    trail: async (file = trailName) => parseTrail(await readFile(join(site.path, file), 'utf8')),
  }
}

export function parseTrail(text: string): readonly TrailLine[] {
  if (text !== '' && !text.endsWith('\n')) throw new Error(`The last line is torn: ${text}`)
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as TrailLine)
}

/** What an upload is answered; `id` is its request id. Rejects with a TypeError when the server is gone. */
export async function upload(url: string, name: string, id: string): Promise<string> {
  const answer = await fetch(`${url}/upload/${name}`, {
    method: 'PUT',
    headers: { ...credentials, 'x-request-id': id },
    body: name,
  })
  return answer.text()
}
