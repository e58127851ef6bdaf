import { randomUUID } from 'node:crypto'
import type { Engine } from '../engine/engine.ts'

/** What servers send each other about a customer's account. Messages may be lost. */
export interface CustomerMessages {
  /** Says that this server has counted the store. */
  reportCount(customer: string): void
  /** Resolves when another server says that it has counted the store, or after a twentieth of a second. */
  nextCount(customer: string): Promise<void>
  /**
   * Asks servers to report what they have changed, and to give back what they do not use. Resolves when all have done so that are alive,
   * or after a second.
   */
  askAll(customer: string, servers: readonly string[]): Promise<void>
}

export interface CustomerListeners {
  /** Called for the question of `askAll`; what it returns is awaited before the answer. */
  readonly onAsked: (customer: string) => Promise<void>
  /** Called when another server has counted the store. */
  readonly onCounted: (customer: string) => void
}

/** How long to wait before looking again, in milliseconds: a message may be lost. */
export const pauseMs = 50

/**
 * How long a question waits for others that can be answered together with it, in milliseconds for each server. It adds to a refusal; without
 * it, many servers near the end of one quota would ask each other all the time.
 */
const gatherMs = 2

/** How long other servers may take to give back what they do not use, in milliseconds. */
const answerWithinMs = 1_000

interface Question {
  readonly missing: Set<string>
  readonly resolve: () => void
}

export function createCustomerMessages(
  engine: Engine,
  { onAsked, onCounted }: CustomerListeners,
): CustomerMessages {
  const waiting = new Map<string, Set<() => void>>()
  const questions = new Map<string, Question>()
  /** The questions of others that are not being answered yet, by customer. */
  const asked = new Map<string, string[]>()
  const answer = async (customer: string, ids: readonly string[]) => {
    asked.delete(customer)
    await onAsked(customer)
    engine.notify('given-back', ids)
  }
  const gather = (customer: string, first: string) => {
    const ids = [first]
    asked.set(customer, ids)
    setTimeout(() => void answer(customer, ids), gatherMs * engine.servers.count())
  }
  const wake = (customer: string) => {
    for (const resolve of waiting.get(customer) ?? []) resolve()
    waiting.delete(customer)
  }

  engine.onMessage('counted', (message) => {
    if (typeof message !== 'string') return
    wake(message)
    onCounted(message)
  })
  engine.onMessage('give-back', (message) => {
    const { id, customer } = message as { id: string; customer: string }
    const gathered = asked.get(customer)
    if (gathered) gathered.push(id)
    else gather(customer, id)
  })
  engine.onMessage('given-back', (message, server) => {
    for (const id of message as readonly string[]) {
      const question = questions.get(id)
      question?.missing.delete(server)
      if (question?.missing.size === 0) question.resolve()
    }
  })

  return {
    reportCount: (customer) => engine.notify('counted', customer),
    async nextCount(customer) {
      const { promise, resolve } = Promise.withResolvers<undefined>()
      const resume = () => resolve(undefined)
      const all = waiting.get(customer) ?? new Set()
      waiting.set(customer, all.add(resume))
      const timer = setTimeout(resume, pauseMs)
      await promise
      clearTimeout(timer)
      all.delete(resume)
      if (all.size === 0 && waiting.get(customer) === all) waiting.delete(customer)
    },
    async askAll(customer, servers) {
      const missing = new Set(servers.filter((server) => !engine.servers.isDead(server)))
      if (missing.size === 0 || engine.isAway()) return
      const id = randomUUID()
      const { promise, resolve } = Promise.withResolvers<undefined>()
      questions.set(id, { missing, resolve: () => resolve(undefined) })
      const timer = setTimeout(() => resolve(undefined), answerWithinMs)
      engine.notify('give-back', { id, customer })
      await promise
      clearTimeout(timer)
      questions.delete(id)
    },
  }
}
