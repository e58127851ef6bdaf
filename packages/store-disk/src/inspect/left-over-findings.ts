import { readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { finding, type Finding } from '@holdfast/core'
import { isAbsence } from '../files/system-error.ts'
import { findTempOwner, type TempOwner } from '../temp/temp-owner.ts'
import { walksName } from '../temp/walk-markers.ts'
import { shellWord } from './shell-word.ts'

/** Reports the content of `tmp` of a data directory: of running processes, of dead ones, and entries without an owner. */
export async function leftOverFindings(data: string, own: string): Promise<readonly Finding[]> {
  const tmp = join(data, 'tmp')
  const known = [basename(own), walksName]
  const entries = (await readdir(tmp)).filter((entry) => !known.includes(entry))
  const owners: TempOwner[] = []
  const strange: string[] = []
  for (const entry of entries) {
    const owner = await ownerOf(join(tmp, entry))
    if (owner === 'strange') strange.push(entry)
    else if (owner) owners.push(owner)
  }
  return [processes(owners), ...(strange.length > 0 ? [strangeFinding(tmp, strange)] : [])]
}

function processes(owners: readonly TempOwner[]): Finding {
  const running = owners.filter(({ isGone }) => !isGone).map(({ pid }) => pid)
  const gone = owners.length - running.length
  const use = running.length === 0 ? 'none uses it now' : `in use by pid ${running.join(', ')}`
  const left = gone === 0 ? '' : `; what ${gone} left when killed, the next start removes`
  return finding('ok', 'processes', use + left)
}

async function ownerOf(path: string): Promise<TempOwner | 'strange' | undefined> {
  try {
    return (await findTempOwner(path)) ?? 'strange'
  } catch (error) {
    if (isAbsence(error)) return undefined
    throw error
  }
}

function strangeFinding(tmp: string, strange: readonly string[]): Finding {
  const message = `${strange.length} in ${tmp} not made by holdfast, such as "${strange[0] ?? ''}", which holdfast does not remove`
  return finding('warning', 'left-overs', message, `See what it is: ls -la ${shellWord(tmp)}`)
}
