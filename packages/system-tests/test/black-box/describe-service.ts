import { authentication } from './areas/authentication.ts'
import { batchDigests } from './areas/batch-digests.ts'
import { cutAnswers } from './areas/cut-answers.ts'
import { deleteBatch } from './areas/delete-batch.ts'
import { deletion } from './areas/delete.ts'
import { digest } from './areas/digest.ts'
import { earlyRefusal } from './areas/early-refusal.ts'
import { errorForm } from './areas/error-form.ts'
import { expectContinue } from './areas/expect-continue.ts'
import { halfClosed } from './areas/half-closed.ts'
import { isolation } from './areas/isolation.ts'
import { limits } from './areas/limits.ts'
import { links } from './areas/links.ts'
import { list } from './areas/list.ts'
import { logins } from './areas/logins.ts'
import { loginBrake } from './areas/login-brake.ts'
import { methodsAndPaths } from './areas/methods-and-paths.ts'
import { overload } from './areas/overload.ts'
import { ping } from './areas/ping.ts'
import { renaming } from './areas/rename.ts'
import { revokedLinks } from './areas/revoked-links.ts'
import { serve } from './areas/serve.ts'
import { serveBatch } from './areas/serve-batch.ts'
import { serveConditional } from './areas/serve-conditional.ts'
import { serveHeaders } from './areas/serve-headers.ts'
import { serveRanges } from './areas/serve-ranges.ts'
import { storeFaults } from './areas/store-faults.ts'
import { truncation } from './areas/truncation.ts'
import { uploadBatch } from './areas/upload-batch.ts'
import { uploadCreateOnly } from './areas/upload-create-only.ts'
import { uploadForm } from './areas/upload-form.ts'
import { uploadLinksInPieces } from './areas/upload-links-in-pieces.ts'
import { uploadLinks } from './areas/upload-links.ts'
import { uploadMalformed } from './areas/upload-malformed.ts'
import { uploadNames } from './areas/upload-names.ts'
import { uploadOverwrite } from './areas/upload-overwrite.ts'
import { uploadRaw } from './areas/upload-raw.ts'
import { usage } from './areas/usage.ts'
import { versions } from './areas/versions.ts'
import { startService, type OpenedStore } from './support/running-service.ts'

/**
 * Runs every row of the specification and of its decisions against the service on a store, over real sockets. Each test
 * opens a store of its own, which must be empty. Titles repeat the words of the row that they prove. `hasHistory`: whether the store
 * keeps what is replaced or deleted.
 *
 * Needs curl, and a loopback interface that answers on 127.0.0.2 as well.
 */
export function describeService(
  storeName: string,
  openStore: () => Promise<OpenedStore>,
  { hasHistory = false }: { readonly hasHistory?: boolean } = {},
): void {
  describe(`the service on ${storeName}`, () => {
    for (const area of hasHistory ? [...areas, versions] : areas)
      area((options = {}) => startService(openStore, options))
  })
}

/** The same with the areas only whose answers come from the store, without what the contract suite has of names. */
export function describeServiceOnStore(
  storeName: string,
  openStore: () => Promise<OpenedStore>,
  { hasHistory = false }: { readonly hasHistory?: boolean } = {},
): void {
  describe(`the service on ${storeName}`, () => {
    for (const area of hasHistory ? [...storeAreas, versions] : storeAreas)
      area((options = {}) => startService(openStore, options))
  })
}

const storeAreas = [
  uploadForm,
  uploadOverwrite,
  uploadCreateOnly,
  digest,
  uploadRaw,
  uploadBatch,
  serve,
  serveHeaders,
  serveRanges,
  serveConditional,
  serveBatch,
  links,
  uploadLinks,
  uploadLinksInPieces,
  revokedLinks,
  list,
  usage,
  deletion,
  deleteBatch,
  renaming,
  logins,
  isolation,
]

const areas = [
  ping,
  authentication,
  loginBrake,
  uploadForm,
  uploadNames,
  uploadMalformed,
  truncation,
  halfClosed,
  uploadOverwrite,
  uploadCreateOnly,
  digest,
  uploadRaw,
  uploadBatch,
  batchDigests,
  expectContinue,
  earlyRefusal,
  serve,
  serveHeaders,
  serveRanges,
  serveConditional,
  serveBatch,
  links,
  uploadLinks,
  uploadLinksInPieces,
  revokedLinks,
  list,
  usage,
  deletion,
  deleteBatch,
  renaming,
  logins,
  isolation,
  limits,
  storeFaults,
  cutAnswers,
  overload,
  methodsAndPaths,
  errorForm,
]
