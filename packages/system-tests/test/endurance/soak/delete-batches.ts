import type { Answer } from './ask.ts'
import type { Attempt, FileKey } from './ledger.ts'
import { allowBreaking, fileOf, unexpected, type Turn } from './turn.ts'

interface Item {
  readonly file: FileKey
  readonly attempt: Attempt
}

/** A line of the answer. */
interface Line {
  readonly filename?: string
  readonly statusCode: number
  readonly message: string
}

/** Deletes some files by one request, and judges each line of the answer. */
export async function deleteBatch(turn: Turn): Promise<void> {
  const { choices, ledger, names, who } = turn
  const chosen = choices.some(names, choices.between(2, 5))
  const items = chosen.map((name): Item => {
    const file = fileOf(turn, name)
    return { file, attempt: ledger.begin(file, () => undefined, who, 'DELETE in a batch') }
  })
  const body = Buffer.from(JSON.stringify(chosen))
  const isCut = choices.chance(20)
  const sent = isCut ? choices.between(1, body.length) : body.length
  const answer = await turn.ask({
    method: 'POST',
    path: '/delete/batch',
    body,
    ...(isCut && { cutAfter: sent }),
  })
  turn.tally.count('batch of deletions', answer.isWhole ? 'answered' : isCut ? 'cut off' : 'broken')
  if (!answer.isWhole && !isCut) allowBreaking(turn, 'batch of deletions', answer)
  const lines = linesOf(answer)
  items.forEach((item, index) => {
    const line = lines[index]
    if (line) judgeLine(turn, item, line, answer)
    else if (sent < body.length) item.attempt.cancel('did not arrive')
    else if (!answer.isWhole) item.attempt.lose(turn.server)
    else throw unexpected(turn, item.file, 'batch of deletions without a line for the file', answer)
  })
}

/** The lines that have come, as far as they are whole. */
function linesOf({ status, body }: Answer): readonly Line[] {
  if (status !== 200) return []
  const texts = body.toString().split('\n').slice(0, -1)
  return texts.map((text) => JSON.parse(text) as Line)
}

function judgeLine(turn: Turn, { file, attempt }: Item, line: Line, answer: Answer): void {
  const reply = `${line.statusCode} ${line.message}`
  const count = (outcome: string) => turn.tally.count('deletion of a batch', outcome)
  if (line.filename === file.name && reply === '200 OK') {
    attempt.finish(reply, (before) => before !== undefined)
    return count('deleted')
  }
  if (line.filename !== file.name || reply !== '400 File not found') {
    throw unexpected(turn, file, 'batch of deletions', answer)
  }
  attempt.finish(reply, (before) => before === undefined)
  count('not there')
}
