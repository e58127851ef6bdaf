import { messageOf, replyOf, type Answer, type Question } from './ask.ts'
import { createVersion, type Version } from './content.ts'
import { chooseSize } from './file-size.ts'
import type { Attempt } from './ledger.ts'
import type { Effect } from './register.ts'
import { allowBreaking, fileOf, unexpected, type Turn } from './turn.ts'
import { formQuestion, rawQuestion } from './upload-questions.ts'

/** How an upload is to go. */
export interface UploadPlan {
  readonly file: string
  readonly size: number
  readonly way: 'form' | 'PUT'
  readonly createOnly: boolean
  readonly digest: 'none' | 'right' | 'wrong'
  /** Cut off in the middle, left before the answer, or, of a form, without its end. */
  readonly fate: 'whole' | 'cut off' | 'left' | 'truncated'
}

/** Uploads one file, in one of many ways, and judges the answer. */
export async function uploadFile(turn: Turn): Promise<void> {
  return upload(turn, planUpload(turn))
}

/** Uploads as planned. */
export async function upload(turn: Turn, plan: UploadPlan): Promise<void> {
  const file = fileOf(turn, plan.file)
  const stamp = { ...file, sequence: turn.sequence, size: plan.size }
  const { version, content } = createVersion(stamp)
  const what = describe(plan, version)
  const attempt = turn.ledger.begin(file, effectOf(plan.createOnly, version), turn.who, what)
  const makeQuestion = plan.way === 'form' ? formQuestion : rawQuestion
  const question = cut(turn, plan, makeQuestion(plan, version, content))
  const answer = await turn.ask(question)
  if (answer.isWhole) return judge(turn, plan, version, attempt, answer)
  turn.tally.count(plan.way, plan.fate === 'whole' ? 'broken' : plan.fate)
  if (plan.fate === 'cut off') return attempt.cancel('cut off')
  if (plan.fate !== 'left') allowBreaking(turn, what, answer)
  if (plan.fate === 'truncated') return attempt.cancel('truncated')
  attempt.lose(turn.server)
}

function planUpload({ choices, names, customer }: Turn): UploadPlan {
  const file = choices.pick(names)
  const form = choices.chance(50) && !cannotBeInForm(file)
  const isTooMuch = customer.quota !== undefined && choices.chance(4)
  const size = isTooMuch ? (customer.quota ?? 0) + choices.between(1, 1000) : chooseSize(choices)
  const fate = choices.weighted({ whole: 78, 'cut off': 13, left: 2, truncated: 7 })
  return {
    file,
    size,
    way: form ? 'form' : 'PUT',
    createOnly: choices.chance(20),
    digest: choices.weighted({ none: 70, right: 20, wrong: 10 }),
    fate: isPossible(fate, form, size) ? fate : 'whole',
  }
}

/** A form's parser cannot tell this character from bytes that are none. */
export function cannotBeInForm(name: string): boolean {
  return name.includes('\ufffd')
}

function isPossible(fate: UploadPlan['fate'], isForm: boolean, size: number): boolean {
  return isForm || (fate !== 'truncated' && size >= 2)
}

/** What storing `version` makes of its name. */
export function effectOf(createOnly: boolean, version: Version): Effect {
  return createOnly ? (before) => before ?? version : () => version
}

function cut({ choices }: Turn, { fate }: UploadPlan, question: Question): Question {
  const { body = Buffer.alloc(0) } = question
  if (fate === 'cut off') return { ...question, cutAfter: choices.between(1, body.length - 1) }
  if (fate === 'left') return { ...question, cutAfter: body.length }
  // At least the closing boundary is missing.
  if (fate === 'truncated') return { ...question, body: body.subarray(0, -choices.between(8, 60)) }
  return question
}

function judge(
  turn: Turn,
  plan: UploadPlan,
  version: Version,
  attempt: Attempt,
  answer: Answer,
): void {
  const { createOnly, digest, fate } = plan
  const count = (outcome: string) => turn.tally.count(plan.way, outcome)
  const reply = replyOf(answer.status, messageOf(answer))
  const isComplete = fate === 'whole' || fate === 'left'
  if (reply === '200 OK' && isComplete && digest !== 'wrong') {
    turn.ledger.learnTag(version, answer.headers.etag, turn.who)
    turn.tally.move(version.size)
    attempt.finish(reply, (before) => !createOnly || before === undefined)
    return count('stored')
  }
  if (answer.status === 412 && createOnly) {
    attempt.finish(reply, (before) => before !== undefined)
    return count('taken')
  }
  const refusal = refusals(turn, plan)[reply]
  if (refusal === undefined) {
    throw unexpected(turn, fileOf(turn, plan.file), describe(plan, version), answer)
  }
  attempt.cancel(reply)
  count(refusal)
}

/** The answers by which the upload may be refused, and what the tally calls them. */
function refusals(turn: Turn, { digest, fate }: UploadPlan): Record<string, string> {
  const { customer } = turn
  return {
    ...(digest === 'wrong' && { '400 Digest mismatch': 'digest mismatch' }),
    ...(fate === 'truncated' && { '400 Malformed multipart body': 'truncated' }),
    ...(fate === 'truncated' && { '400 No file': 'truncated' }),
    ...(customer.quota !== undefined && { '413 Quota exceeded': 'quota exceeded' }),
  }
}

function describe({ way, createOnly, digest, fate }: UploadPlan, version: Version): string {
  const parts = [
    `upload ${version.sequence}, ${version.size} bytes by ${way}`,
    ...(createOnly ? ['create-only'] : []),
    ...(digest === 'none' ? [] : [`${digest} digest`]),
    ...(fate === 'whole' ? [] : [`to be ${fate}`]),
  ]
  return parts.join(', ')
}
