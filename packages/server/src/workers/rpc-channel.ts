import { FileServiceError, isFileServiceError, type ErrorCode } from '@holdfast/core'

/** Sends objects between two processes, in order. The objects must survive JSON. */
export interface Transport {
  send(message: object): void
  onMessage(take: (message: unknown) => void): void
}

/** The handlers of one side, by topic. `signal` aborts when the other side no longer needs the answer. */
export type Answers = Readonly<Record<string, (body: never, signal: AbortSignal) => unknown>>

/** A channel to the other side, which has the handlers `Theirs`. */
export interface RpcChannel<Theirs extends Answers> {
  /** Resolves with the answer; rejects with the other side's error, a `FileServiceError` or another, and when it has ended. */
  ask<Topic extends keyof Theirs & string>(
    topic: Topic,
    body: Parameters<Theirs[Topic]>[0],
    signal?: AbortSignal,
  ): Promise<Awaited<ReturnType<Theirs[Topic]>>>
  /** Sends without waiting for an answer. Messages are handled in the order in which they are sent. */
  notify<Topic extends keyof Theirs & string>(
    topic: Topic,
    body: Parameters<Theirs[Topic]>[0],
  ): void
  /** Call this when the other side has ended: rejects the calls that wait for it, and aborts the handlers of its calls. */
  end(): void
}

interface Message {
  readonly topic?: string
  /** Absent if no one waits for an answer. */
  readonly ask?: number
  readonly cancel?: number
  readonly answer?: number
  readonly refuse?: number
  readonly body?: unknown
}

interface Fault {
  readonly message: string
  readonly code?: ErrorCode
  readonly retryAfterMs?: number
}

/** Makes a channel over `transport`, which answers the other side by `answers`. */
export function createRpcChannel<Theirs extends Answers>(
  transport: Transport,
  answers: Answers,
): RpcChannel<Theirs> {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  const answering = new Map<number, AbortController>()
  let asked = 0
  let isGone = false

  const answer = async ({ topic = '', ask, body }: Message) => {
    const controller = new AbortController()
    if (ask !== undefined) answering.set(ask, controller)
    const say = (message: object) => {
      if (ask === undefined) return
      answering.delete(ask)
      if (!isGone) transport.send(message)
    }
    try {
      say({ answer: ask, body: await answers[topic]?.(body as never, controller.signal) })
    } catch (error) {
      say({ refuse: ask, body: faultOf(error) })
    }
  }
  const settle = (id: number) => {
    const one = waiting.get(id)
    waiting.delete(id)
    return one
  }
  transport.onMessage((received) => {
    const message = received as Message
    if (message.topic !== undefined) void answer(message)
    else if (message.cancel !== undefined) answering.get(message.cancel)?.abort()
    else if (message.answer !== undefined) settle(message.answer)?.resolve(message.body)
    else if (message.refuse !== undefined) {
      settle(message.refuse)?.reject(errorOf(message.body as Fault))
    }
  })

  return {
    async ask(topic, body, signal) {
      signal?.throwIfAborted()
      if (isGone) throw goneError()
      const id = asked++
      const one = Promise.withResolvers<unknown>()
      waiting.set(id, one)
      transport.send({ topic, ask: id, body })
      const cancel = () => {
        settle(id)?.reject(signal?.reason)
        transport.send({ cancel: id })
      }
      signal?.addEventListener('abort', cancel, { once: true })
      try {
        return (await one.promise) as never
      } finally {
        signal?.removeEventListener('abort', cancel)
      }
    },
    notify(topic, body) {
      if (!isGone) transport.send({ topic, body })
    },
    end() {
      isGone = true
      for (const controller of answering.values()) controller.abort(goneError())
      for (const { reject } of waiting.values()) reject(goneError())
      waiting.clear()
    },
  }
}

const goneError = () => new Error('The other process is gone')

function faultOf(error: unknown): Fault {
  if (!(error instanceof Error)) return { message: String(error) }
  const { message } = error
  if (!isFileServiceError(error)) return { message }
  const { code, retryAfterMs } = error
  return { message, code, ...(retryAfterMs !== undefined && { retryAfterMs }) }
}

function errorOf({ message, code, ...options }: Fault): Error {
  return code === undefined ? new Error(message) : new FileServiceError(code, message, options)
}
