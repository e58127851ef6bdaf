import { send } from '../crash/send.ts'
import { sha256 } from '../endurance/soak/content.ts'
import type { NameLedger, NameViolation } from './name-ledger.ts'

/** Holds what the server at `url` has against what it may have; every name is looked at, and none may be there beside them. */
export async function judgeFiles(
  url: string,
  ledgers: ReadonlyMap<string, NameLedger>,
): Promise<readonly NameViolation[]> {
  const listed = await list(url)
  const violations: NameViolation[] = listed
    .filter((name) => !ledgers.has(name))
    .map((name) => ({ name, damage: 'neither', description: `${name}: no such upload` }))
  for (const [name, ledger] of ledgers) {
    const violation = ledger.judge(await contentOf(url, name, listed.includes(name)))
    if (violation) violations.push(violation)
  }
  return violations
}

/** Checks that every content that a name has ever had is a file, or an earlier version of one: a rename takes it to another name. */
export async function judgeHistory(
  url: string,
  ledgers: ReadonlyMap<string, NameLedger>,
): Promise<readonly NameViolation[]> {
  const found = new Set<string>()
  for (const [name, ledger] of ledgers) {
    const present = ledger.kept()
    if (present) found.add(present.sha256)
    for (const version of await versionsOf(url, name)) {
      const { status, content, isWhole } = await send(
        url,
        'GET',
        `/serve/${name}?version=${version}`,
      )
      if (status !== 200 || !isWhole) throw new Error(`Version ${version} of ${name}: ${status}`)
      found.add(sha256(content))
    }
  }
  return [...ledgers].flatMap(([name, ledger]) =>
    [...ledger.stored()]
      .filter((content) => !found.has(content))
      .map((content) => ({
        name,
        damage: 'lost' as const,
        description: `${name} had a content of SHA-256 ${content}, which is not kept`,
      })),
  )
}

async function versionsOf(url: string, name: string): Promise<readonly string[]> {
  const { status, content } = await send(url, 'GET', `/versions/${name}`)
  if (status === 404 || status === 400) return []
  if (status !== 200) throw new Error(`GET /versions/${name}: ${status} ${content.toString()}`)
  return (JSON.parse(content.toString()) as { version: string }[]).map(({ version }) => version)
}

async function list(url: string): Promise<readonly string[]> {
  const { status, content } = await send(url, 'GET', '/list')
  if (status === 400 && content.includes('No files uploaded yet')) return []
  if (status !== 200) throw new Error(`GET /list: ${status} ${content.toString()}`)
  return JSON.parse(content.toString()) as string[]
}

async function contentOf(
  url: string,
  name: string,
  isListed: boolean,
): Promise<Buffer | undefined> {
  const { status, content, isWhole } = await send(url, 'GET', `/serve/${name}`)
  if (status === 200 && isWhole && isListed) return content
  if (status === 400 && content.includes('File not found') && !isListed) return undefined
  const where = isListed ? 'listed' : 'not listed'
  throw new Error(`GET /serve/${name}: ${status}, whole: ${isWhole}, although it is ${where}`)
}
