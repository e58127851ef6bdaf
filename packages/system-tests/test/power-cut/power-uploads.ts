import { tus, type FileInPieces } from '../crash/piece-protocols.ts'
import { send, type Answer } from '../crash/send.ts'
import type { Choices } from '../endurance/soak/choices.ts'
import { createVersion, type Version } from '../endurance/soak/content.ts'
import type { NameLedger, NameViolation } from './name-ledger.ts'

/** An upload in pieces that is not at its end. One client works on it. */
export interface OpenUpload extends FileInPieces {
  readonly path: string
  readonly version: Version
  /** So many bytes were acknowledged, and so many were sent. */
  acknowledged: number
  sent: number
}

const statuses = { begun: 201, appended: 204, found: 200 } as const

let uploads = 0

/** Begins an upload of the file `name`, with its first bytes or none. */
export async function beginPieces(
  url: string,
  name: string,
  choices: Choices,
): Promise<{ readonly answer: Answer; readonly upload?: OpenUpload }> {
  const stamp = { customer: 'demo', name, sequence: `piece by piece ${uploads++}` }
  const { version, content } = createVersion({ ...stamp, size: choices.between(2, 200_000) })
  const first = choices.chance(50) ? 0 : choices.between(1, content.length - 1)
  const answer = await tus.begin(url, { name, content }, first)
  const { location } = answer.headers
  if (answer.status !== statuses.begun || location === undefined) return { answer }
  const path = tus.pathOf(location.split('/').at(-1) ?? '')
  return { answer, upload: { name, content, path, version, acknowledged: first, sent: first } }
}

/** Sends the next bytes of `upload`, perhaps all that are left, so that it becomes the file. */
export async function sendPiece(
  url: string,
  upload: OpenUpload,
  ledger: NameLedger,
  choices: Choices,
): Promise<Answer> {
  const { path, content, acknowledged: begin, version } = upload
  const end = choices.chance(40) ? content.length : choices.between(begin + 1, content.length)
  const isLast = end === content.length
  if (isLast) ledger.begin(version)
  upload.sent = end
  const answer = await tus.append(url, path, upload, { begin, end })
  if (answer.status !== statuses.appended) return answer
  upload.acknowledged = end
  if (isLast) ledger.acknowledge()
  return answer
}

/** Holds an upload against what was acknowledged of it, after a power cut; sends what is missing, and looks at the file that it became. */
export async function judgeUpload(
  url: string,
  upload: OpenUpload,
  ledger: NameLedger,
): Promise<NameViolation | undefined> {
  const { name, path, content, version, acknowledged, sent } = upload
  const lost = (what: string): NameViolation => {
    const bytes = `${acknowledged} of ${sent} bytes that were sent were acknowledged`
    return { name, damage: 'lost', description: `The upload of ${name}: ${what}; ${bytes}` }
  }
  const found = await tus.look(url, path)
  if (found.status !== statuses.found) return lost(`a look at it is answered ${found.status}`)
  const begin = Number(found.headers['upload-offset'])
  if (!(begin >= acknowledged && begin <= sent)) return lost(`it stands at ${begin}`)
  if (begin < content.length) {
    const range = { begin, end: content.length }
    const { status } = await tus.append(url, path, upload, range)
    if (status !== statuses.appended) return lost(`the rest of it is answered ${status}`)
  }
  ledger.begin(version)
  ledger.acknowledge()
  const served = await send(url, 'GET', `/serve/${name}`)
  return served.content.equals(content) ? undefined : lost('it became another file')
}
