import type { Version } from './content.ts'
import type { State, Effect } from './register.ts'
import { createRegister } from './register.ts'
import { SoakViolation } from './violation.ts'

/** An operation on one file, as its client sees it. Ended exactly once. */
export interface Attempt {
  /**
   * It was answered, and had found a state that `explains` the answer.
   * @throws SoakViolation when no order of all that was done to the file makes that possible
   */
  finish(answer: string, explains: (before: State) => boolean): void
  /**
   * It has not happened and never will.
   * @throws SoakViolation when somebody has seen what it would have done
   */
  cancel(why: string): void
  /** Whether it has happened is not known, and it may yet, until the server is gone. */
  lose(server: number): void
  /** It was a look at the file, and what it saw is not known. */
  forget(): void
}

/** What all files of all customers may be, by what the server has answered. */
export interface Ledger {
  /** `who` and `what` are for the history of the file. */
  begin(file: FileKey, effect: Effect, who: string, what: string): Attempt
  /** The server with this number is gone: what was lost on it has happened by now, or never will. */
  serverIsGone(server: number): void
  /**
   * A server has named `version` by this entity tag.
   * @throws SoakViolation when it has called it otherwise before, or another content of the file the same
   */
  learnTag(version: Version, etag: string | undefined, who: string): void
  /** Something that concerns all files. */
  note(event: string): void
  /** What a file may be now. */
  possible(file: FileKey): readonly State[]
  /** A violation that concerns one file, with its history. */
  violation(file: FileKey, message: string): SoakViolation
}

export interface FileKey {
  readonly customer: string
  readonly name: string
}

/** How much of a file's past is kept to be told. */
const historyLength = 60

/** A ledger of customers without files. */
export function createLedger(): Ledger {
  const startedAt = performance.now()
  const registers = keyed(createRegister)
  const histories = keyed(() => [] as Event[])
  const events: Event[] = []
  /** The digest of what each tag stands for. */
  const tags = keyed(() => new Map<string, string>())
  const lost = new Map<number, (() => void)[]>()

  const write = (history: Event[], text: string) => {
    history.push({ at: performance.now() - startedAt, text })
    if (history.length > historyLength) history.shift()
  }
  const violation = (file: FileKey, message: string) => {
    const told = [...histories(file), ...events].sort((a, b) => a.at - b.at)
    return new SoakViolation(
      [
        message,
        `Customer ${file.customer}, file ${JSON.stringify(file.name)}. What was done to it:`,
        ...told.map(({ at, text }) => `  ${(at / 1000).toFixed(3).padStart(9)} s  ${text}`),
      ].join('\n'),
    )
  }

  return {
    begin(file, effect, who, what) {
      const register = registers(file)
      const history = histories(file)
      const operation = register.begin(effect)
      const tell = (text: string) => write(history, `${who}: ${what}: ${text}`)
      tell('begins')
      const insist = (isPossible: boolean, problem: string) => {
        if (!isPossible) throw violation(file, `${who}: ${what}: ${problem}`)
      }
      return {
        finish(answer, explains) {
          tell(answer)
          const before = register.possible().map(labelOf)
          insist(
            register.finish(operation, explains),
            `${answer}. That cannot be: the file is ${before.join(' or ')}.`,
          )
        },
        cancel(why) {
          tell(why)
          insist(register.cancel(operation), `${why}. Yet somebody has seen what it did.`)
        },
        lose(server) {
          tell('no answer')
          lost.set(server, [...(lost.get(server) ?? []), () => register.settle(operation)])
        },
        forget: () => register.settle(operation),
      }
    },
    serverIsGone(server) {
      lost.get(server)?.forEach((settle) => settle())
      lost.delete(server)
    },
    learnTag(version, etag, who) {
      const { customer, name, sequence, sha256 } = version
      const known = tags({ customer, name })
      const isNew = etag !== undefined && (known.get(etag) ?? sha256) === sha256
      if (!isNew || (version.etag ?? etag) !== etag) {
        const told = `the tag of upload ${sequence} is ${etag ?? 'missing'}`
        throw violation(version, `${who}: ${told}, which is another's, or it had another`)
      }
      version.etag = etag
      known.set(etag, sha256)
    },
    note: (event) => write(events, event),
    possible: (file) => registers(file).possible(),
    violation,
  }
}

interface Event {
  /** In milliseconds since the ledger was made. */
  readonly at: number
  readonly text: string
}

function labelOf(state: State): string {
  return state === undefined ? 'not there' : `upload ${state.sequence} (${state.size} bytes)`
}

/** One thing for each file, made when it is first asked for. */
function keyed<T>(create: () => T): (file: FileKey) => T {
  const things = new Map<string, T>()
  return ({ customer, name }) => {
    const key = `${customer}/${name}`
    const thing = things.get(key) ?? create()
    things.set(key, thing)
    return thing
  }
}
