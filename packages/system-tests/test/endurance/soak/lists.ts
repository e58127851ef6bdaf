import { messageOf, type Answer } from './ask.ts'
import type { Attempt } from './ledger.ts'
import { allowBreaking, fileOf, type Turn } from './turn.ts'
import { SoakViolation } from './violation.ts'

/** What part of a listing is asked for. */
export interface ListQuery {
  readonly prefix?: string
  readonly after?: string
  readonly limit?: number
}

/** Lists a part of the customer's files, or all, and judges what comes. */
export async function listFiles(turn: Turn): Promise<void> {
  const { choices, names } = turn
  const [first = ''] = choices.pick(names)
  await list(turn, {
    ...(choices.chance(30) && { prefix: first }),
    ...(choices.chance(30) && { after: choices.pick(names) }),
    ...(choices.chance(30) && { limit: choices.between(1, names.length) }),
  })
}

/**
 * Lists files. A name that is there all the while must be listed, one that is not must not, and one that comes or goes
 * may be: so that the list is a look at each of the names, at some moment while it was made.
 */
export async function list(turn: Turn, query: ListQuery): Promise<void> {
  const path = pathOf(query)
  const looks = new Map<string, Attempt>()
  for (const name of turn.names.filter((each) => matches(each, query))) {
    looks.set(
      name,
      turn.ledger.begin(fileOf(turn, name), (before) => before, turn.who, path),
    )
  }
  const answer = await turn.ask({ method: 'GET', path })
  const kind = ['list', ...Object.keys(query)].join(', ')
  turn.tally.count(kind, answer.isWhole ? `${answer.status}` : 'broken')
  if (!answer.isWhole) {
    looks.forEach((look) => look.forget())
    return allowBreaking(turn, path, answer)
  }
  const listed = namesOf(turn, path, query, answer)
  checkOrder(turn, path, listed)
  judge(turn, path, query, looks, listed)
}

function pathOf({ prefix, after, limit }: ListQuery): string {
  const parameters = Object.entries({ prefix, after, limit: limit?.toString() }).flatMap(
    ([field, value]) => (value === undefined ? [] : [`${field}=${encodeURIComponent(value)}`]),
  )
  return parameters.length === 0 ? '/list' : `/list?${parameters.join('&')}`
}

function matches(name: string, { prefix = '', after = '' }: ListQuery): boolean {
  return name.startsWith(prefix) && compare(name, after) > 0
}

function namesOf(turn: Turn, path: string, query: ListQuery, answer: Answer): readonly string[] {
  if (answer.status === 200) return JSON.parse(answer.body.toString()) as string[]
  const isPage = query.after !== undefined || query.prefix !== undefined
  const reply = `${answer.status} ${messageOf(answer)}`
  if (reply === '400 No files uploaded yet' && !isPage) return []
  throw new SoakViolation(`${turn.who}: ${path}: an answer that must not come: ${reply}`)
}

function checkOrder({ who }: Turn, path: string, listed: readonly string[]): void {
  const wrong = listed.findIndex(
    (name, index) => index > 0 && compare(listed[index - 1], name) >= 0,
  )
  if (wrong < 0) return
  const pair = `${JSON.stringify(listed[wrong - 1])}, ${JSON.stringify(listed[wrong])}`
  throw new SoakViolation(`${who}: ${path}: the list is out of order: ${pair}`)
}

function judge(
  turn: Turn,
  path: string,
  { limit = Infinity }: ListQuery,
  looks: ReadonlyMap<string, Attempt>,
  listed: readonly string[],
): void {
  const foreign = listed.find((name) => !looks.has(name))
  if (foreign !== undefined || listed.length > limit) {
    const what = `a name that cannot be there (${JSON.stringify(foreign)}), or too many (${listed.length})`
    throw new SoakViolation(`${turn.who}: ${path}: ${what}`)
  }
  const [last] = listed.slice(-1)
  const isCutShort = listed.length === limit
  for (const [name, look] of looks) {
    if (isCutShort && compare(name, last) > 0) look.forget()
    else if (listed.includes(name)) look.finish('listed', (before) => before !== undefined)
    else look.finish('not listed', (before) => before === undefined)
  }
}

/** By UTF-8 bytes, on its own and not as the server does it. */
function compare(a = '', b = ''): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}
