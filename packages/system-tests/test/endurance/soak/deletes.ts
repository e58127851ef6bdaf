import { messageOf } from './ask.ts'
import { allowBreaking, fileOf, unexpected, type Turn } from './turn.ts'

/** Deletes a file that may or may not be there. */
export async function deleteFile(turn: Turn): Promise<void> {
  return deleteNamed(turn, turn.choices.pick(turn.names))
}

/** Deletes the file of this name, which may or may not be there. */
export async function deleteNamed(turn: Turn, name: string): Promise<void> {
  const file = fileOf(turn, name)
  const attempt = turn.ledger.begin(file, () => undefined, turn.who, 'DELETE')
  const answer = await turn.ask({ method: 'DELETE', path: `/delete/${encodeURIComponent(name)}` })
  const count = (outcome: string) => turn.tally.count('DELETE', outcome)
  if (!answer.isWhole) {
    attempt.lose(turn.server)
    count('broken')
    return allowBreaking(turn, 'DELETE', answer)
  }
  const reply = `${answer.status} ${messageOf(answer)}`
  if (reply === '200 OK') {
    attempt.finish(reply, (before) => before !== undefined)
    return count('deleted')
  }
  if (reply !== '400 File not found') throw unexpected(turn, file, 'DELETE', answer)
  attempt.finish(reply, (before) => before === undefined)
  count('not there')
}
