import type { Answer, Question } from './ask.ts'
import { messageOf } from './ask.ts'
import type { Choices } from './choices.ts'
import type { FileKey, Ledger } from './ledger.ts'
import type { Tally } from './tally.ts'
import { SoakViolation } from './violation.ts'

/** A customer of the servers under test. */
export interface SoakCustomer {
  readonly name: string
  readonly password: string
  /** In bytes. */
  readonly quota?: number
}

/** One turn of a client: all that an operation needs. */
export interface Turn {
  /** Who does it, and which of its turns that is. */
  readonly who: string
  /** No other turn has it. */
  readonly sequence: string
  readonly customer: SoakCustomer
  /** The names of files that customers use; each has files of its own under them. */
  readonly names: readonly [string, ...string[]]
  readonly choices: Choices
  readonly ledger: Ledger
  readonly tally: Tally
  /** The number of the server that is asked. */
  readonly server: number
  /** Whether that server has been told to end, so that connections may break. */
  isDoomed(): boolean
  ask(question: Question): Promise<Answer>
}

/** The customer's file of that name. */
export function fileOf(turn: Turn, name: string): FileKey {
  return { customer: turn.customer.name, name }
}

/**
 * Judges a connection that broke before the answer's end.
 * @throws SoakViolation when nobody has ended the server
 */
export function allowBreaking(turn: Turn, what: string, { problem }: Answer): void {
  if (turn.isDoomed()) return
  throw new SoakViolation(
    `${turn.who}: ${what}: the connection broke, and nobody ended the server: ${problem}`,
  )
}

/** What to throw on an answer that is none to the question. */
export function unexpected(turn: Turn, file: FileKey, what: string, answer: Answer): SoakViolation {
  return turn.ledger.violation(
    file,
    `${turn.who}: ${what}: an answer that must not come: ${answer.status} ${messageOf(answer)}`,
  )
}
