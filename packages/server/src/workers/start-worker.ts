import cluster from 'node:cluster'
import { once } from 'node:events'
import { SetupError } from '@holdfast/core'
import { createRpcChannel, type RpcChannel } from './rpc-channel.ts'
import type { PrimaryServices } from './primary-services.ts'
import type { StartHandlers, WorkerHandlers, WorkerOrder } from './worker-protocol.ts'

export interface Worker {
  readonly pid: number | undefined
  readonly channel: RpcChannel<WorkerHandlers>
  /** Resolves with the url when it listens; rejects when it cannot, or ends before. */
  readonly listening: Promise<string>
  isListening(): boolean
  /** Whether it listens and is still there. */
  isServing(): boolean
  /** Where it was to listen; `undefined` before it has begun. */
  port(): number | undefined
  /** Resolves when the process is gone, with what it ended with. */
  readonly ended: Promise<string>
  /** Lets the process end, which has closed. */
  release(): void
  kill(): void
}

/**
 * Starts a worker, which takes its part in what is shared. `giveOrder` is called when it has begun, and `accept` when it
 * listens; the worker cannot start if that throws.
 */
export function startWorker(
  giveOrder: () => WorkerOrder,
  accept: (url: string) => void,
  shared: PrimaryServices,
): Worker {
  const worker = cluster.fork()
  const started = Promise.withResolvers<string>()
  let order: WorkerOrder | undefined
  let isListening = false
  let isGone = false
  started.promise.catch(() => {})
  const share = shared.give(() => channel)
  const answers: StartHandlers = {
    begin() {
      share.welcome()
      order = giveOrder()
      return order
    },
    listening({ url }) {
      try {
        accept(url)
      } catch (error) {
        return started.reject(error)
      }
      isListening = true
      started.resolve(url)
    },
    failed: ({ problem, remedies, isMistake }) =>
      started.reject(isMistake ? new SetupError(problem, remedies) : new Error(problem)),
  }
  const transport = {
    // A worker that has just ended is noticed by its end.
    send: (message: object) => void worker.process.send(message, () => {}),
    onMessage: (take: (message: unknown) => void) => void worker.on('message', take),
  }
  const channel: RpcChannel<WorkerHandlers> = createRpcChannel(transport, {
    ...share.answers,
    ...answers,
  })
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
    port: () => order?.config.port,
    ended,
    release() {
      if (worker.process.connected) worker.process.disconnect()
    },
    kill: () => void worker.process.kill('SIGKILL'),
  }
}
