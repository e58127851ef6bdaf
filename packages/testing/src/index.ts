export {
  asRoot,
  rootCommand,
  childrenOf,
  openDescriptors,
  residentMiB,
  resetPeak,
  findFreePort,
  curl,
  type CurlOptions,
  type CurlResult,
} from './machine.ts'
export { makeCertificate, type Certificate } from './certificate.ts'
export { catchConsoleErrors, type CaughtErrors, rejection, until } from './until.ts'
export {
  cheapCost,
  cheapHash,
  createSite,
  credentials,
  customersYaml,
  type Site,
  entriesBelow,
  makeTemporaryDirectory,
  treeOf,
  type TemporaryDirectory,
} from './site.ts'
export { startBadLine, type BadLine, type Fate } from './connection/bad-line.ts'
export {
  exchange,
  openConnection,
  type Connection,
  type ConnectionOptions,
  framingOf,
  parseAnswer,
  parseHead,
  type Answer,
  uploadHead,
} from './connection/connection.ts'
export {
  startCopy,
  type CopyOutcome,
  type CopyProcess,
  runHoldfast,
  startHoldfast,
  startHoldfastByShell,
  type HoldfastOptions,
  type HoldfastServer,
  type LogLine,
  type Outcome,
  useHoldfast,
  holdfastProgram,
  packagedProgram,
} from './holdfast.ts'
export {
  readmeExamples,
  runReadme,
  withExample,
  withReadmeServer,
  type ReadmeRun,
} from './readme.ts'
