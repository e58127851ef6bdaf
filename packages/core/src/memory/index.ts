export { createMemoryBlobStore } from './memory-blob-store.ts'
export { createMemoryCredentialSource } from './memory-credential-source.ts'
export {
  createMemoryFailureCounter,
  type MemoryFailureCounterOptions,
} from './memory-failure-counter.ts'
