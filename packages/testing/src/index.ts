export { asRoot, rootCommand } from './as-root.ts'
export { catchConsoleErrors, type CaughtErrors } from './catch-console-errors.ts'
export { cheapCost, cheapHash } from './cheap-hash.ts'
export { startBadLine, type BadLine, type Fate } from './connection/bad-line.ts'
export {
  exchange,
  openConnection,
  type Connection,
  type ConnectionOptions,
} from './connection/connection.ts'
export { parseAnswer, type Answer } from './connection/parse-answer.ts'
export { uploadHead } from './connection/upload-head.ts'
export { startCopy, type CopyOutcome, type CopyProcess } from './copy-process.ts'
export { curl, type CurlOptions, type CurlResult } from './curl.ts'
export { entriesBelow } from './entries-below.ts'
export { findFreePort } from './find-free-port.ts'
export {
  runHoldfast,
  startHoldfast,
  startHoldfastByShell,
  type HoldfastOptions,
  type HoldfastServer,
  type LogLine,
  type Outcome,
} from './holdfast.ts'
export { holdfastProgram, packagedProgram } from './holdfast-program.ts'
export { makeCertificate, type Certificate } from './make-certificate.ts'
export { childrenOf, openDescriptors, residentMiB, resetPeak } from './process-figures.ts'
export { withReadmeServer } from './readme-server.ts'
export { rejection } from './rejection.ts'
export { createSite, credentials, customersYaml, type Site } from './site.ts'
export { makeTemporaryDirectory, type TemporaryDirectory } from './temporary-directory.ts'
export { treeOf } from './tree-of.ts'
export { until } from './until.ts'
export { useHoldfast } from './use-holdfast.ts'
