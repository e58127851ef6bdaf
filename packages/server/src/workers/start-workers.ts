import cluster, { type Worker as ClusterWorker } from 'node:cluster'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createFileService, createQuotaKeeper, SetupError } from '@holdfast/core'
import type { Logger } from 'pino'
import type { Config } from '../config/resolve-config.ts'
import type { MetricValues, ServerWatch } from '../serve/server-watch.ts'
import { checkProxies } from '../listen.ts'
import { loginBrakeOptions } from '../login-failure-counter.ts'
import { openSharedServices, createCloseStack } from '../serve/open-shared-services.ts'
import { sweepUploads } from '../serve/sweeps.ts'
import { checkKeeping, type KeepingCheck, openStore } from '../stores/open-store.ts'
import { openEvents } from '../events/open-events.ts'
import type { Webhooks } from '../events/open-webhooks.ts'
import type { RunningServer } from '../serve/start-server.ts'
import { createPrimaryServices, type PrimaryServices } from './primary-services.ts'
import { createRpcChannel, type RpcChannel } from './rpc-channel.ts'
import type { StartHandlers, WorkerHandlers, WorkerStart } from './worker-protocol.ts'

/** How long to wait before a worker that ended soon is replaced, in milliseconds; doubled each time. */
const shortestPause = 100
const longestPause = 10_000

/** A worker that ends after this time has not ended because of its start. In milliseconds. */
const longLife = 10_000

interface Hearers {
  primary?: PrimaryServices
  keeping?: KeepingCheck
  events?: Webhooks
}

/**
 * Starts a server with as many processes as `config` says, which share a port, and replaces those that crash. This process keeps
 * what they share; see `createPrimaryServices`. Resolves when all serve; if one cannot start, it ends all and rejects.
 *
 * @throws SetupError for a mistake that an administrator can correct
 */
export async function startWorkers(
  config: Config,
  log: Logger,
  watch?: ServerWatch,
): Promise<RunningServer> {
  checkProxies(config)
  const brakeOptions = loginBrakeOptions(config)
  const { open, closeAll } = createCloseStack()
  /** Who hears of changed customers. The file may change before all are there. */
  const hearers: Hearers = {}
  const onReloaded = () => {
    hearers.primary?.sendCustomers()
    void hearers.keeping?.again()
    void hearers.events?.followCustomers()
  }
  const services = await open(openSharedServices(config, log, onReloaded, watch))
  // Opened for the usage of customers with a quota. A mistake in its settings is reported here, and only once.
  const store = await open(openStore(config.store, config, log))
  const credentials = () => services.allCredentials()
  hearers.keeping = await open(checkKeeping({ store, config, credentials }, log))
  const sharedState = services.shared
  const keeper = sharedState && (await open(Promise.resolve(sharedState.openQuotas(store))))
  const quotas = keeper?.keeper ?? createQuotaKeeper(store)
  const events = await open(openEvents(config, log, services.customerWebhooks))
  hearers.events = events
  const primary = createPrimaryServices(services, quotas, brakeOptions, {
    ...(sharedState && { shared: sharedState }),
  })
  hearers.primary = primary
  const { readSecret: _, ...written } = config
  const workers: Worker[] = []
  const closing = new AbortController()
  const isClosing = () => closing.signal.aborted
  let reportDeath = () => {}
  const serving = () => workers.filter((worker) => worker.isServing())

  // Set before `setupPrimary`, which fixes it. Otherwise the primary accepts connections, without a limit, and passes them on.
  cluster.schedulingPolicy = cluster.SCHED_NONE
  cluster.setupPrimary({
    exec: fileURLToPath(new URL('worker-process.js', import.meta.url)),
    args: [],
  })

  const kept = keepUrl(config.port)
  const makeStart = (number: number) => {
    return { config: { ...written, port: kept.portBeside(serving()[0]) }, number }
  }
  const start = (number: number) =>
    (workers[number] = startWorker(
      () => makeStart(number),
      (url) => kept.accept(url),
      primary,
    ))
  const reportFailedStart = (err: unknown) => log.error({ err }, 'a worker cannot start')
  /** Starts a worker, as soon as the system has memory for another process; `undefined` if the server closes before. */
  const startAgain = async (number: number): Promise<Worker | undefined> => {
    while (!isClosing()) {
      try {
        return start(number)
      } catch (err) {
        reportFailedStart(err)
        await delay(longestPause, undefined, closing).catch(() => {})
      }
    }
    return undefined
  }
  const keep = async (worker: Worker, number: number, pause = 0): Promise<void> => {
    const began = performance.now()
    const how = await worker.ended
    if (isClosing()) return
    reportDeath()
    const wait = performance.now() - began > longLife ? 0 : pause
    log.error(
      { worker: worker.pid, ended: how },
      'a worker ended unexpectedly; it is being replaced',
    )
    await delay(wait, undefined, closing).catch(() => {})
    if (isClosing()) return
    const next = await startAgain(number)
    if (next === undefined) return
    next.listening.catch((error: unknown) => {
      if (!isClosing()) reportFailedStart(error)
      next.kill()
    })
    return keep(next, number, Math.min(longestPause, Math.max(shortestPause, 2 * wait)))
  }

  const numbers = Array.from({ length: config.workers }, (_, number) => number)
  try {
    const [url = ''] = await Promise.all(numbers.map((number) => start(number).listening))
    workers.forEach((worker, number) => void keep(worker, number))
    if (store.resumable) {
      const service = createFileService({ store, quotas })
      await open(Promise.resolve(sweepUploads(service, log, watch)))
    }
    return {
      url,
      status: {
        store,
        customers: services.customersState,
        certificate: services.certificateState,
        ...(sharedState && { shared: () => sharedState.state() }),
        events,
        workers: {
          wanted: config.workers,
          answering: (signal) => countAnswering(serving(), signal),
          count: () => serving().length,
          onDeath: (notify) => void (reportDeath = notify),
          metrics: () => Promise.all(serving().map(metricsOf)),
        },
      },
      async reload() {
        const taken = await Promise.all([
          services.reload(),
          events.reload(),
          ...workers.map(({ channel }) => channel.ask('reload', {}).catch(() => true)),
        ])
        return taken.every(Boolean)
      },
      async close(cut) {
        closing.abort()
        const closed = Promise.all(workers.map(closeWorker))
        const hurry = () => {
          workers.forEach(({ channel }) => channel.notify('hurry', {}))
          setTimeout(() => workers.forEach((worker) => worker.kill()), hurriedMs).unref()
        }
        cut?.addEventListener('abort', hurry)
        if (cut?.aborted) hurry()
        const areClean = await closed
        await closeAll()
        return areClean.every(Boolean)
      },
    }
  } catch (error) {
    closing.abort()
    workers.forEach((worker) => worker.kill())
    await Promise.all(workers.map(({ ended }) => ended))
    await closeAll()
    throw error
  }
}

/** How long workers may take to cut what is under way, in milliseconds; one that takes longer has been suspended, or hangs. */
const hurriedMs = 7_000

/** How long a worker may take to report its metrics, in milliseconds; Prometheus waits longer than that. */
const metricsMs = 3_000

/** The metrics of a worker; `undefined` if it does not report them in time, or has ended. */
async function metricsOf({ channel }: Worker): Promise<MetricValues | undefined> {
  return channel.ask('metrics', {}, AbortSignal.timeout(metricsMs)).catch(() => undefined)
}

async function countAnswering(workers: readonly Worker[], signal: AbortSignal): Promise<number> {
  const answers = workers.map(({ channel }) => channel.ask('alive', {}, signal).catch(() => false))
  return (await Promise.all(answers)).filter(Boolean).length
}

/** Resolves when the worker has ended: with `true` if nothing had to be cut. A worker that does not listen yet is killed. */
async function closeWorker(worker: Worker): Promise<boolean> {
  if (!worker.isListening()) worker.kill()
  const isClean = await worker.channel.ask('close', {}).catch(() => !worker.isListening())
  worker.release()
  await worker.ended
  return isClean
}

export interface Worker {
  readonly pid: number | undefined
  readonly channel: RpcChannel<WorkerHandlers>
  /** Resolves with the URL when the worker listens; rejects if it cannot, or ends before. */
  readonly listening: Promise<string>
  isListening(): boolean
  /** Whether it listens and has not ended. */
  isServing(): boolean
  /** The port on which it was to listen; `undefined` before it has begun. */
  port(): number | undefined
  /** Resolves when the process has ended, with its exit code or signal. */
  readonly ended: Promise<string>
  /** Lets the process end after it has closed. */
  release(): void
  kill(): void
}

/**
 * Starts a worker, which uses the services of `primary`. `makeStart` is called when its process has begun, and `accept` when it listens;
 * if `accept` throws, the start fails.
 */
export function startWorker(
  makeStart: () => WorkerStart,
  accept: (url: string) => void,
  primary: PrimaryServices,
): Worker {
  const worker = cluster.fork()
  const started = Promise.withResolvers<string>()
  let start: WorkerStart | undefined
  let isListening = false
  let isGone = false
  started.promise.catch(() => {})
  const session = primary.openSession(() => channel)
  const answers: StartHandlers = {
    begin() {
      session.sendState()
      start = makeStart()
      return start
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
    // An error is ignored: if the worker has just ended, its `exit` event follows.
    send: (message: object) => void worker.process.send(message, () => {}),
    onMessage: (take: (message: unknown) => void) => void worker.on('message', take),
  }
  const channel: RpcChannel<WorkerHandlers> = createRpcChannel(transport, {
    ...session.answers,
    ...answers,
  })
  const ended = endOf(worker).then((how) => {
    started.reject(new Error(`A worker ended while it started: ${how}`))
    isGone = true
    session.end()
    channel.end()
    return how
  })
  return {
    pid: worker.process.pid,
    channel,
    listening: started.promise,
    isListening: () => isListening,
    isServing: () => isListening && !isGone,
    port: () => start?.config.port,
    ended,
    release() {
      if (worker.process.connected) worker.process.disconnect()
    },
    kill: () => void worker.process.kill('SIGKILL'),
  }
}

/** Resolves when the process has ended, or could not be started at all, with what it ended by. */
function endOf(worker: ClusterWorker): Promise<string> {
  return new Promise((resolve) => {
    worker.once('exit', (code: number | null, signal: string | null) => {
      resolve(signal ?? `exit code ${code}`)
    })
    // A process that could not be started has no exit. Other errors are of a message, whose sender knows.
    worker.on('error', (error: Error) => {
      if (worker.process.pid === undefined) resolve(error.message)
    })
  })
}

/** Keeps all workers on one port if the system has chosen it, even if all workers crash at once. */
export interface KeptUrl {
  /**
   * The port to pass to the next worker. Workers that listen together must have got the same number: for 0 and for the chosen port the
   * system gives different ports. It is the number of a worker that still listens; if none does, the chosen port. Before the first worker
   * listens, it is the configured port.
   */
  portBeside(worker: { port(): number | undefined } | undefined): number
  /** Keeps the first URL. @throws Error for another URL: the last other worker ended before this one listened */
  accept(url: string): void
}

/** A {@link KeptUrl} for workers with the port `configured`; 0 means any port. */
function keepUrl(configured: number): KeptUrl {
  let kept: string | undefined
  return {
    portBeside(worker) {
      if (configured !== 0 || kept === undefined) return configured
      return worker?.port() ?? Number(new URL(kept).port)
    },
    accept(url) {
      kept ??= url
      if (url !== kept) throw new Error(`It listens on ${url} and not on ${kept}`)
    },
  }
}
