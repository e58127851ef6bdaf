import { messageOf, type Answer } from '../soak/ask.ts'
import { fileOperation } from './file-operation.ts'
import type { Seen, Turn } from './turn.ts'
import { bytesOf, publishedBy, type PieceEvent, type UploadHistory } from './upload-history.ts'

const protocol = { 'tus-resumable': '1.0.0' }
const pieceType = { 'content-type': 'application/offset+octet-stream' }

/** Bytes of an upload: a few, and more than a server takes in one go. */
const lengths = [120, 150_000] as const

/** Begins an upload, or goes on with one, of this client or another; resolves with what that says of the file. */
export async function takePieceTurn(turn: Turn): Promise<Seen> {
  const { choices, uploads } = turn
  const [open, ...others] = uploads.filter((upload) => !isOver(upload))
  if (open === undefined || choices.chance(20)) return beginUpload(turn)
  const upload = choices.pick([open, ...others])
  const kind = choices.weighted({ append: 70, look: isKnown(upload) ? 10 : 60, discard: 5 })
  const events = await (kind === 'append' ? append(turn, upload) : askFor(turn, upload, kind))
  upload.events.push(...events)
  return []
}

/** Looks at all uploads that clients would go on with. */
export async function lookAtUploads(turn: Turn): Promise<void> {
  for (const upload of turn.uploads.filter((one) => !isOver(one))) {
    upload.events.push(...(await askFor(turn, upload, 'look')))
  }
}

function isOver(upload: UploadHistory): boolean {
  const isDiscarded = upload.events.some(({ outcome }) => outcome === 'gone')
  return isDiscarded || publishedBy(upload).length > 0
}

/** Whether the last client has seen where the upload stands. */
function isKnown({ events }: UploadHistory): boolean {
  const last = events.at(-1)
  return last === undefined || last.offset !== undefined
}

function offsetOf({ events }: UploadHistory): number {
  return Math.max(0, ...events.map(({ offset = 0 }) => offset))
}

async function beginUpload(turn: Turn): Promise<Seen> {
  const { credentials, choices, name, round, uploads, now } = turn
  const length = choices.pick(lengths)
  const createOnly = choices.chance(40)
  const headers = {
    ...{ ...credentials, ...protocol, 'upload-length': length },
    'upload-metadata': `filename ${Buffer.from(name).toString('base64')}`,
    ...(createOnly && { 'if-none-match': '*' }),
  }
  const begin = now()
  const { answer } = await turn.send({ method: 'POST', path: '/resumable', headers })
  if (isLost(answer)) return []
  if (createOnly && answer.status === 412) {
    return [{ ...fileOperation.refused('an upload'), begin, end: now() }]
  }
  if (answer.status !== 201) throw unexpected('POST', answer)
  const label = `${round}/${uploads.length}`
  const path = `/${answer.headers.location ?? ''}`
  uploads.push({ label, path, length, createOnly, events: [], downloads: [] })
  return []
}

async function append(turn: Turn, upload: UploadHistory): Promise<readonly PieceEvent[]> {
  const { id, choices } = turn
  const { label, length } = upload
  // Where it stands by the last answer: others may have gone on.
  const from = Math.min(offsetOf(upload), length - 1)
  const third = from + length / 3
  const range = { from, to: choices.chance(60) || third > length ? length : third }
  const headers = { ...pieceType, 'upload-offset': from }
  const body = bytesOf(label, id, range)
  return askOf(turn, upload, { kind: 'append', range }, 'PATCH', headers, body)
}

async function askFor(
  turn: Turn,
  upload: UploadHistory,
  kind: 'look' | 'discard',
): Promise<readonly PieceEvent[]> {
  return askOf(turn, upload, { kind }, kind === 'look' ? 'HEAD' : 'DELETE')
}

/** The event, and one more without an answer if a copy of the request is delivered. */
async function askOf(
  { send, credentials, id: writer, now }: Turn,
  { path }: UploadHistory,
  what: Pick<PieceEvent, 'kind' | 'range'>,
  method: string,
  headers: Readonly<Record<string, string | number>> = {},
  body?: Buffer,
): Promise<readonly PieceEvent[]> {
  const begin = now()
  const { answer, isDoubled } = await send({
    ...{ method, path },
    headers: { ...credentials, ...protocol, ...headers },
    ...(body && { body }),
  })
  const maybe = { ...what, writer, begin, end: Infinity, outcome: 'unknown' } as const
  const copy = isDoubled ? [maybe] : []
  if (isLost(answer)) return [...copy, maybe]
  const outcome = outcomes[answer.status]
  if (outcome === undefined) throw unexpected(method, answer)
  const offset = answer.headers['upload-offset']
  const event = { ...what, writer, begin, end: now(), outcome }
  return [...copy, { ...event, ...(offset !== undefined && { offset: Number(offset) }) }]
}

const outcomes: Readonly<Record<number, PieceEvent['outcome']>> = {
  200: 'done',
  204: 'done',
  404: 'gone',
  409: 'refused',
  412: 'taken',
}

function isLost({ isWhole, status }: Answer): boolean {
  return !isWhole || status === 503
}

function unexpected(method: string, answer: Answer): Error {
  return new Error(
    `An answer that must not come to ${method}: ${answer.status} ${messageOf(answer)}`,
  )
}
