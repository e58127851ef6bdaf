import { boundary, form, formType } from '../../black-box/support/form.ts'
import { messageOf, replyOf, type Answer } from './ask.ts'
import { createVersion, type Version } from './content.ts'
import { chooseSize } from './file-size.ts'
import type { Attempt } from './ledger.ts'
import { allowBreaking, fileOf, unexpected, type Turn } from './turn.ts'
import { conditionOf, partsOf, type Sending } from './upload-questions.ts'
import { cannotBeInForm, effectOf } from './uploads.ts'

/** One file of a batch. */
interface Item {
  readonly sending: Sending
  readonly version: Version
  readonly parts: Buffer
  readonly attempt: Attempt
  /** How many bytes of the form must have arrived for the file to be stored. */
  readonly completeAt: number
}

/** A line of the answer. */
interface Line {
  readonly filename?: string
  readonly statusCode: number
  readonly message: string
}

type Fate = 'whole' | 'cut off' | 'truncated'

/** Uploads some files in one request, and judges each line of the answer. */
export async function uploadBatch(turn: Turn): Promise<void> {
  const { choices } = turn
  const createOnly = choices.chance(20)
  const fate = choices.weighted({ whole: 70, 'cut off': 20, truncated: 10 })
  const items = createItems(turn, createOnly)
  if (items.length === 0) return
  const body = form(...items.map(({ parts }) => parts))
  const sent = fate === 'whole' ? body.length : choices.between(1, body.length - 10)
  const answer = await turn.ask({
    method: 'POST',
    path: '/upload/batch',
    headers: { 'content-type': formType, ...conditionOf({ createOnly }) },
    body: fate === 'truncated' ? body.subarray(0, sent) : body,
    ...(fate === 'cut off' && { cutAfter: sent }),
  })
  turn.tally.count(
    'batch',
    answer.isWhole ? `answered (${fate})` : fate === 'whole' ? 'broken' : fate,
  )
  if (!answer.isWhole && fate !== 'cut off') allowBreaking(turn, 'batch', answer)
  judge(turn, items, fate, sent, answer)
}

function createItems(turn: Turn, createOnly: boolean): Item[] {
  const { choices, names, ledger, who } = turn
  const chosen = choices.some(names, choices.between(2, 5)).filter((name) => !cannotBeInForm(name))
  let length = 0
  return chosen.map((name, index) => {
    const file = fileOf(turn, name)
    const sequence = `${turn.sequence}.${index}`
    const { version, content } = createVersion({ ...file, sequence, size: chooseSize(choices) })
    const digest = choices.weighted({ none: 80, right: 15, wrong: 5 })
    const sending = { createOnly, digest }
    const parts = Buffer.concat(partsOf(sending, version, content))
    length += parts.length
    const what = `upload ${sequence}, ${version.size} bytes by batch${createOnly ? ', create-only' : ''}`
    const attempt = ledger.begin(file, effectOf(createOnly, version), who, what)
    return { sending, version, parts, attempt, completeAt: length + boundary.length + 2 }
  })
}

function judge(turn: Turn, items: readonly Item[], fate: Fate, sent: number, answer: Answer): void {
  const lines = linesOf(turn, items, answer)
  items.forEach((item, index) => {
    const line = lines[index]
    if (line?.filename !== undefined) return judgeLine(turn, item, line, fate, sent)
    const isComplete = item.completeAt <= sent
    if (!isComplete) return item.attempt.cancel('did not arrive')
    if (!answer.isWhole) return item.attempt.lose(turn.server)
    throw unexpected(turn, item.version, 'batch without a line for the file', answer)
  })
}

/** The lines that have come, as far as they are whole. */
function linesOf(turn: Turn, [first]: readonly Item[], answer: Answer): readonly Line[] {
  if (answer.status === 0) return []
  if (answer.status === 200) {
    const texts = answer.body.toString().split('\n').slice(0, -1)
    return texts.map((text) => JSON.parse(text) as Line)
  }
  const isNoForm = ['No file', 'Malformed multipart body'].includes(messageOf(answer))
  if (isNoForm || !first) return []
  throw unexpected(turn, first.version, 'batch', answer)
}

function judgeLine(
  turn: Turn,
  { version, sending, attempt, completeAt }: Item,
  { statusCode, message, filename }: Line,
  fate: Fate,
  sent: number,
): void {
  const { createOnly, digest } = sending
  const count = (outcome: string) => turn.tally.count('file of a batch', outcome)
  const reply = replyOf(statusCode, message)
  const isComplete = completeAt <= sent
  if (filename === version.name && reply === '200 OK' && isComplete && digest !== 'wrong') {
    turn.tally.move(version.size)
    attempt.finish(reply, (before) => !createOnly || before === undefined)
    return count('stored')
  }
  if (statusCode === 412 && createOnly) {
    attempt.finish(reply, (before) => before !== undefined)
    return count('taken')
  }
  const { quota } = turn.customer
  const isRefusal =
    (reply === '400 Digest mismatch' && digest === 'wrong') ||
    (reply === '413 Quota exceeded' && quota !== undefined) ||
    (reply === '400 Malformed multipart body' && fate !== 'whole')
  if (!isRefusal) {
    throw turn.ledger.violation(version, `${turn.who}: batch: a line that must not come: ${reply}`)
  }
  attempt.cancel(reply)
  count(reply.slice(`${statusCode} `.length).toLowerCase())
}
