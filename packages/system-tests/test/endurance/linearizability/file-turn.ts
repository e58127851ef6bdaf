import { messageOf, type Answer, type Question } from '../soak/ask.ts'
import { fileOperation, type FileOperation } from './file-operation.ts'
import type { Seen, Turn } from './turn.ts'
import { labelIn } from './upload-history.ts'

/** How often clients do what. */
const weights = { upload: 25, create: 20, read: 25, delete: 20, list: 10 } as const

type Kind = keyof typeof weights

/** Uploads have one of these sizes, in bytes: what servers take in one go, and what they do not. */
const sizes = [40, 100_000] as const

/** Uploads, reads, deletes or lists the file. */
export function takeFileTurn(turn: Turn): Promise<Seen> {
  return changeOrLook(turn, turn.choices.weighted(weights))
}

/** Reads the file. */
export function readFile(turn: Turn): Promise<Seen> {
  return changeOrLook(turn, 'read')
}

async function changeOrLook(turn: Turn, kind: Kind): Promise<Seen> {
  const { credentials, choices, id, name, contents, now } = turn
  const bytes = Buffer.alloc(choices.pick(sizes), ' ')
  bytes.write(id)
  if (kind === 'upload' || kind === 'create') contents.set(id, bytes)
  const begin = now()
  const { answer, isDoubled } = await turn.send(questionOf(kind, name, bytes, credentials))
  const operation = judge(kind, turn, answer)
  const isChange = kind !== 'read' && kind !== 'list'
  const maybe = isChange ? [{ ...unanswered(kind, id), begin, end: Infinity }] : []
  const copy = isDoubled ? maybe : []
  if (operation === fileOperation.remove && turn.looksBeforeRemoval) {
    const [look, removal] = fileOperation.lookAndRemove
    const moments = { begin, end: now() }
    const first = { ...look, ...moments }
    return [first, { ...removal, ...moments, after: first }, ...copy]
  }
  const own = operation === 'unknown' ? maybe : [{ ...operation, begin, end: now() }]
  return [...own, ...copy]
}

function questionOf(
  kind: Kind,
  name: string,
  body: Buffer,
  credentials: Turn['credentials'],
): Question {
  switch (kind) {
    case 'upload':
      return { method: 'PUT', path: `/upload/${name}`, headers: credentials, body }
    case 'create': {
      const headers = { ...credentials, 'if-none-match': '*' }
      return { method: 'PUT', path: `/upload/${name}`, headers, body }
    }
    case 'read':
      return { method: 'GET', path: `/serve/${name}`, headers: credentials }
    case 'delete':
      return { method: 'DELETE', path: `/delete/${name}`, headers: credentials }
    case 'list':
      return { method: 'GET', path: `/list?prefix=${name}`, headers: credentials }
  }
}

function unanswered(kind: 'upload' | 'create' | 'delete', content: string): FileOperation {
  const operation = kind === 'delete' ? fileOperation.remove : fileOperation[kind](content)
  return { ...operation, what: `unanswered ${operation.what}`, explains: () => true }
}

/** @throws Error for an answer that must not come */
function judge(kind: Kind, turn: Turn, answer: Answer): FileOperation | 'unknown' {
  const { name, id: content } = turn
  const { status, isWhole, body } = answer
  if (!isWhole || status === 503) return 'unknown'
  const reply = `${status} ${status === 200 ? '' : messageOf(answer)}`.trim()
  const isMissing = reply === '400 File not found'
  if (kind === 'upload' && status === 200) return fileOperation.upload(content)
  if (kind === 'create' && status === 200) return fileOperation.create(content)
  if (kind === 'create' && status === 412) return fileOperation.refused(content)
  if (kind === 'read' && status === 200) return fileOperation.read(contentOf(answer, turn))
  if (kind === 'delete' && status === 200) return fileOperation.remove
  if (kind === 'list' && status === 200) {
    const names = JSON.parse(body.toString()) as readonly string[]
    return names.includes(name) ? fileOperation.listed : fileOperation.missing
  }
  if ((kind === 'read' || kind === 'delete') && isMissing) return fileOperation.missing
  throw new Error(`An answer that must not come to ${kind} of ${name}: ${reply}`)
}

/** @throws Error for an entity tag that meant another content before */
function contentOf({ body, headers: { etag } }: Answer, turn: Turn): string {
  const content = knownContent(body, turn)
  if (etag === undefined) throw new Error(`A download of ${turn.name} without an entity tag`)
  const before = turn.etags.get(etag) ?? content
  turn.etags.set(etag, content)
  if (before === content) return content
  throw new Error(`The entity tag ${etag} means ${before} and ${content}`)
}

function knownContent(body: Buffer, { contents, uploads }: Turn): string {
  const label = labelIn(body)
  const upload = uploads.find((one) => one.label === label)
  if (upload) {
    upload.downloads.push(body)
    return upload.label
  }
  const content = body.toString().trimEnd()
  if (contents.get(content)?.equals(body) === true) return content
  throw new Error(`A download of ${body.length} bytes that were not uploaded so`)
}
