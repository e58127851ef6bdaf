import cluster from 'node:cluster'
import { once } from 'node:events'
import { UsageError } from '../config/usage-error.ts'
import type { Config } from '../config/resolve-config.ts'
import { createChannel, type Channel } from './channel.ts'
import type { Figures } from '../metrics/merge-figures.ts'
import type { SharedCommons } from './share-commons.ts'
import type { ToldAnswers } from './told-commons.ts'

/** What a worker starts with. */
export interface WorkerOrder {
  readonly config: Omit<Config, 'readSecret'>
  /** Which of the workers it is, from 0; no two that run have the same. */
  readonly place: number
}

/** What a worker says of itself. */
export type StartAnswers = {
  begin(nothing: object): WorkerOrder
  listening(place: { readonly url: string }): void
  /** It cannot start. `isMistake`: the administrator can mend it, and the message says how. */
  failed(why: { readonly message: string; readonly isMistake: boolean }): void
}

/** What a worker does for its primary. */
export type WorkerAnswers = ToldAnswers & {
  /** Answers as long as its process does anything. */
  alive(nothing: object): boolean
  reload(nothing: object): Promise<boolean>
  /** What the worker has measured; left out where it does not measure. */
  figures(nothing: object): Promise<Figures | undefined>
  /** Closes the server; see `RunningServer`. */
  close(nothing: object): Promise<boolean>
  /** Makes the grace time of `close` end. */
  hurry(nothing: object): void
}

export interface Worker {
  readonly pid: number | undefined
  readonly channel: Channel<WorkerAnswers>
  /** Resolves with the url when it listens; rejects when it cannot, or ends before. */
  readonly listening: Promise<string>
  isListening(): boolean
  /** Whether it listens and is still there. */
  isServing(): boolean
  /** Resolves when the process is gone, with what it ended with. */
  readonly ended: Promise<string>
  /** Lets the process end, which has closed. */
  release(): void
  kill(): void
}

/** Starts a worker, which takes its part in what is shared. */
export function startWorker(order: WorkerOrder, shared: SharedCommons): Worker {
  const worker = cluster.fork()
  const started = Promise.withResolvers<string>()
  let isListening = false
  let isGone = false
  started.promise.catch(() => {})
  const share = shared.give(() => channel)
  const answers: StartAnswers = {
    begin() {
      share.welcome()
      return order
    },
    listening({ url }) {
      isListening = true
      started.resolve(url)
    },
    failed: ({ message, isMistake }) =>
      started.reject(isMistake ? new UsageError(message) : new Error(message)),
  }
  const wire = {
    // A worker that has just ended is noticed by its end.
    send: (message: object) => void worker.process.send(message, () => {}),
    onMessage: (take: (message: unknown) => void) => void worker.on('message', take),
  }
  const channel: Channel<WorkerAnswers> = createChannel(wire, { ...share.answers, ...answers })
  const ended = (once(worker, 'exit') as Promise<[number | null, string | null]>).then(
    ([code, signal]) => {
      const how = signal ?? `exit code ${code}`
      started.reject(new Error(`A worker ended while it started: ${how}`))
      isGone = true
      share.end()
      channel.end()
      return how
    },
  )
  return {
    pid: worker.process.pid,
    channel,
    listening: started.promise,
    isListening: () => isListening,
    isServing: () => isListening && !isGone,
    ended,
    release() {
      if (worker.process.connected) worker.process.disconnect()
    },
    kill: () => void worker.process.kill('SIGKILL'),
  }
}
