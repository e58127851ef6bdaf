import { SetupError } from '@holdfast/core'
import { hostPortText, type HostPort } from './engine-address.ts'
import { EngineAwayError, reasonOf } from './engine-errors.ts'
import { connectNode, type EngineNode, type NodeAccess } from './engine-node.ts'
import { connectTimeoutMs, type EngineSettings } from './engine-settings.ts'
import { explainConnection } from './explain-refusal.ts'
import { checkState, type NodeState, readState } from './node-state.ts'

/** Connects to a server, and refuses one that cannot count. */
export async function openNode(
  at: HostPort,
  settings: EngineSettings,
): Promise<{ readonly node: EngineNode; readonly state: NodeState }> {
  const { address, prefix } = settings
  let node: EngineNode | undefined
  try {
    node = await connectNode(at, accessOf(settings))
    const state = await readStateInTime(node)
    checkState(node.name, state, { kind: address.kind, prefix })
    return { node, state }
  } catch (error) {
    node?.destroy()
    throw await explained(error, at, settings)
  }
}

/** How to log in to the servers of the engine. */
export function accessOf({ login, tls, address }: EngineSettings): NodeAccess {
  return {
    login,
    tls: address.tls ? tls : undefined,
    database: address.database,
    connectTimeoutMs,
  }
}

async function readStateInTime(node: EngineNode): Promise<NodeState> {
  const timer = setTimeout(() => {
    node.destroy(new EngineAwayError(`no answer within ${connectTimeoutMs} ms`))
  }, connectTimeoutMs)
  try {
    return await readState(node)
  } finally {
    clearTimeout(timer)
  }
}

/** The error that says at which server it happened, and what to do where a person must mend it. */
export async function explained(
  error: unknown,
  at: HostPort,
  settings: EngineSettings,
): Promise<Error> {
  if (error instanceof EngineAwayError && error.message.includes(hostPortText(at))) return error
  const { prefix, address } = settings
  const setup = await explainConnection(error, at, { prefix, tls: address.tls })
  return setup ?? new EngineAwayError(`${reasonOf(error)} (${hostPortText(at)})`, { cause: error })
}

/** The first that succeeds; if none does, the error that a person must mend, or otherwise the first error. */
export async function firstOf<T>(attempts: readonly Promise<T>[]): Promise<T> {
  try {
    return await Promise.any(attempts)
  } catch (error) {
    const errors: readonly unknown[] = error instanceof AggregateError ? error.errors : [error]
    throw errors.find((one) => one instanceof SetupError) ?? errors[0]
  }
}
