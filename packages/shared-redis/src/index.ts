export {
  openEngine,
  EngineAwayError,
  script,
  type Engine,
  type EngineOptions,
  type Script,
  type Servers,
} from './engine.ts'
export { openSharedQuotas, type OpenSharedQuotas, type SharedQuotasOptions } from './quotas.ts'
export {
  createSharedFailureCounter,
  type SharedFailureCounter,
  type SharedFailureOptions,
} from './failures.ts'
export type { SharedFailure } from './failure-replica.ts'
export {
  createSharedUseCounter,
  type SharedUseCounter,
  type SharedUseCounterOptions,
} from './use-counters.ts'
export { createSharedLocks, type SharedHeldLock, type SharedLocks } from './locks.ts'
export { parseEngineUrl, type EngineAddress, type HostPort } from './engine-address.ts'
export { examineEngine } from './examine-engine.ts'
