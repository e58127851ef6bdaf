import { send, sendForm, sendRename, type Answer } from '../crash/send.ts'
import type { Choices } from '../endurance/soak/choices.ts'
import { createVersion, type Version } from '../endurance/soak/content.ts'
import type { Kept, NameLedger } from './name-ledger.ts'
import { beginPieces, sendPiece, type OpenUpload } from './power-uploads.ts'

/** What a client works on: names that no other client has. */
export interface ClientNames {
  readonly client: number
  readonly ledgers: ReadonlyMap<string, NameLedger>
  readonly choices: Choices
  /** Its uploads in pieces that are not at their end. */
  readonly uploads: OpenUpload[]
  /** The rename that has no answer. */
  renaming: UnansweredRename | undefined
}

/** A rename and what its two names held before. Afterwards it has happened, or it has not; it never happens by half. */
export interface UnansweredRename {
  readonly from: string
  readonly to: string
  readonly moved: Kept
  readonly replaced: Kept
}

export interface ClientReport {
  /** An operation was acknowledged. */
  acknowledged(): void
  /** Whether the power is on; while it is, no operation may fail. */
  isPowered(): boolean
}

type Way = 'replace' | 'form' | 'create' | 'delete'

/** Uploads in pieces that a client has at a time. */
const mostUploads = 3

let uploads = 0

/**
 * Uploads, replaces, renames and deletes files on the server at `url`, one after the other, until it fails.
 * @throws an error when it fails while the power is on, or answers what it must not
 */
export async function work(url: string, names: ClientNames, report: ClientReport): Promise<void> {
  while (await operate(url, names, report)) report.acknowledged()
}

/** Does one thing; whether it succeeded. */
async function operate(url: string, names: ClientNames, report: ClientReport): Promise<boolean> {
  const { ledgers, choices } = names
  const [first = '', ...others] = ledgers.keys()
  const name = choices.pick([first, ...others])
  const ledger = ledgers.get(name)
  if (!ledger) throw new RangeError(`There is no name ${name}`)
  if (choices.chance(10)) return look(url, names, report)
  if (choices.chance(30)) return operateOnPieces(url, names, name, report)
  if (choices.chance(20)) return rename(url, names, name, report)
  const way = choices.weighted<Way>({ replace: 40, form: 15, create: 15, delete: 30 })
  const before = ledger.kept()
  const expected = expectedAnswer(way, before)
  const { status, content } = await ask(url, way, name, ledger, choices)
  if (expected.status === status && content.includes(expected.text)) {
    if (status === 200) ledger.acknowledge()
    else ledger.refuse()
    return true
  }
  return fail(`${way} ${name}`, { status, content }, report)
}

/** Gives the file `from` the name of another file, or of none. */
async function rename(
  url: string,
  names: ClientNames,
  from: string,
  report: ClientReport,
): Promise<boolean> {
  const { ledgers, choices } = names
  const [first = '', ...others] = [...ledgers.keys()].filter((name) => name !== from)
  const to = choices.pick([first, ...others])
  const [source, target] = [ledgers.get(from), ledgers.get(to)]
  if (!source || !target) throw new RangeError(`There is no name ${from} or ${to}`)
  const [moved, replaced] = [source.kept(), target.kept()]
  const createOnly = choices.chance(50)
  const expected = moved
    ? createOnly && replaced
      ? { status: 412, text: 'Precondition Failed' }
      : { status: 200, text: 'OK' }
    : { status: 400, text: 'File not found' }
  source.begin(undefined)
  target.begin(moved)
  names.renaming = { from, to, moved, replaced }
  const answer = await sendRename(url, from, { to, createOnly })
  if (answer.status !== expected.status || !answer.content.includes(expected.text)) {
    return fail(`rename ${from} to ${to}`, answer, report)
  }
  names.renaming = undefined
  for (const ledger of [source, target]) {
    if (answer.status === 200) ledger.acknowledge()
    else ledger.refuse()
  }
  return true
}

/** Lists the client's names. Also where the power is off, a list that comes has all of them. */
async function look(
  url: string,
  { client, ledgers }: ClientNames,
  report: ClientReport,
): Promise<boolean> {
  const kept = [...ledgers].filter(([, ledger]) => ledger.kept()).map(([name]) => name)
  const { status, content, isWhole } = await send(url, 'GET', `/list?prefix=client-${client}-`)
  if (status === 200 && !isWhole && !report.isPowered()) return false
  if (status === 200 && content.toString() === JSON.stringify(kept)) return true
  return fail(`the list, which has ${kept.join(', ')}`, { status, content }, report)
}

/** Begins an upload of `name` in pieces, or goes on with one. */
async function operateOnPieces(
  url: string,
  { ledgers, choices, uploads }: ClientNames,
  name: string,
  report: ClientReport,
): Promise<boolean> {
  const upload = uploads[0]
  if (upload === undefined || (uploads.length < mostUploads && choices.chance(30))) {
    const { answer, upload: begun } = await beginPieces(url, name, choices)
    if (!begun) return fail(`begin ${name}`, answer, report)
    uploads.push(begun)
    return true
  }
  const ledger = ledgers.get(upload.name)
  if (!ledger) throw new RangeError(`There is no name ${upload.name}`)
  const answer = await sendPiece(url, upload, ledger, choices)
  if (answer.status !== 204) return fail(`a piece of ${upload.name}`, answer, report)
  uploads.shift()
  if (upload.acknowledged < upload.content.length) uploads.push(upload)
  return true
}

/** An operation without success, which is right only when the power is off. */
function fail(
  what: string,
  { status, content }: Pick<Answer, 'status' | 'content'>,
  report: ClientReport,
): false {
  if (report.isPowered() || (status !== 0 && status < 500)) {
    throw new Error(`${what}: ${status} ${content.toString()}`)
  }
  return false
}

function ask(
  url: string,
  way: Way,
  name: string,
  ledger: NameLedger,
  choices: Choices,
): Promise<Answer> {
  if (way === 'delete') {
    ledger.begin(undefined)
    return send(url, 'DELETE', `/delete/${name}`)
  }
  const { version, content } = nextVersion(name, choices)
  // A file that is there stays as it is.
  ledger.begin(way === 'create' ? (ledger.kept() ?? version) : version)
  if (way === 'form') return sendForm(url, '/upload', { [name]: content })
  const headers = way === 'create' ? { 'if-none-match': '*' } : {}
  return send(url, 'PUT', `/upload/${name}`, content, headers)
}

function expectedAnswer(way: Way, before: Version | undefined): { status: number; text: string } {
  if (way === 'create' && before) return { status: 412, text: 'Precondition Failed' }
  if (way === 'delete' && !before) return { status: 400, text: 'File not found' }
  return { status: 200, text: 'OK' }
}

/** Most files are small, some have a megabyte, and a few are empty. */
function nextVersion(name: string, choices: Choices) {
  const limit = choices.weighted({ '1': 3, '3000': 50, '60000': 40, '1000000': 7 })
  const stamp = { customer: 'demo', name, sequence: `${uploads++}` }
  return createVersion({ ...stamp, size: choices.below(Number(limit)) })
}
