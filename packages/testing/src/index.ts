export {
  asRoot,
  rootCommand,
  childrenOf,
  openDescriptors,
  openFilesIn,
  residentMiB,
  resetPeak,
  findFreePort,
  curl,
  type CurlOptions,
  type CurlResult,
} from './machine.ts'
export {
  makeCertificate,
  useTrustedCertificate,
  type Certificate,
  createTlsSite,
  tlsFlags,
  validDays,
  type TlsSite,
} from './tls-site.ts'
export { bytesAt, piece, collect, contentOf, putText, seeded } from './content.ts'
export { describeWithDisks, makeSmallDisk, type DiskKind, type SmallDisk } from './machine.ts'
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
export { adminPortOf, adminUrl, scrape, type AdminPort, type Scrape } from './holdfast.ts'
export {
  startBadLine,
  type BadLine,
  type Fate,
  exchange,
  openConnection,
  type Connection,
  type ConnectionOptions,
  framingOf,
  parseAnswer,
  parseHead,
  type Answer,
  uploadHead,
} from './connection.ts'
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
  deployedFile,
  readmeExamples,
  runReadme,
  withExample,
  withReadmeServer,
  type ReadmeRun,
} from './documents.ts'
