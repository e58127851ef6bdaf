export {
  openEngine,
  EngineAwayError,
  script,
  type Engine,
  type EngineOptions,
  type Script,
  type Servers,
} from './engine/engine.ts'
export {
  openSharedQuotas,
  type OpenSharedQuotas,
  type SharedQuotasOptions,
} from './quotas/quotas.ts'
export {
  createSharedFailureCounter,
  type SharedFailureCounter,
  type SharedFailureOptions,
} from './counts/failures.ts'
export type { SharedFailure } from './counts/failure-replica.ts'
export {
  createSharedUseCounter,
  type SharedUseCounter,
  type SharedUseCounterOptions,
} from './counts/use-counters.ts'
export { createSharedLocks, type SharedHeldLock, type SharedLocks } from './locks.ts'
export { parseEngineUrl, type EngineAddress, type HostPort } from './engine/engine-address.ts'
export { examineEngine } from './engine/examine-engine.ts'
