import type { ContainerRuntimeClient } from 'testcontainers'
import { connectToEngine } from './connect-to-engine.ts'
import { removeAbandoned, removeOwnAtExit } from './ownership.ts'

let prepared: Promise<ContainerRuntimeClient> | undefined

/**
 * Connects to the engine, once, removes there what earlier processes have left, and sees to it that this one leaves
 * nothing.
 */
export function prepareEngine(): Promise<ContainerRuntimeClient> {
  return (prepared ??= connectAndTidy())
}

async function connectAndTidy(): Promise<ContainerRuntimeClient> {
  const engine = await connectToEngine()
  await removeAbandoned(engine)
  removeOwnAtExit()
  return engine
}
