export { createMemoryBlobStore } from './memory-blob-store.ts'
export {
  createMemoryCredentialSource,
  createMemoryFailureCounter,
  type MemoryFailureCounterOptions,
} from './memory-logins.ts'
