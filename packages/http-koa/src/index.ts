export { createApp, createRouter } from './app.ts'
export type { Audit, AuditEvent } from './guards/audit.ts'
export {
  type HoldfastState,
  routes,
  type AnsweredRequest,
  type OnAnswered,
  type Route,
  httpCrashPoints,
  type HttpCrashPoint,
} from './server/exchange.ts'
export { createAddressSet, createAddressOf, type AddressOf } from './guards/address-of.ts'
export { type HttpLog, createErrors } from './guards/errors.ts'
export { errorBody, type ErrorBody, toProblem } from './http/problems.ts'
export { HttpProblem } from '@holdfast/resumable'
export { createAccessLog, requestId } from './guards/request-log.ts'
export {
  createAuthentication,
  headerAuthentication,
  type Authenticate,
  type LoginResult,
  type OnLogin,
  createRequestCounters,
  linkLimits,
  type RequestCounters,
} from './guards/enter.ts'
export {
  multerOptions,
  createMulterStorage,
  type MulterStorage,
  type MulterStorageOptions,
  type UploadedPart,
} from './uploads/multer-storage.ts'
export type { StagedUpload } from './uploads/upload.ts'
export type { PageFile, PageFiles } from './links/page.ts'
export type { RouterOptions } from './options.ts'
export {
  createHttpServer,
  type HttpApp,
  type HttpServerOptions,
  createHttpsServer,
  replaceCertificate,
  type ServerCertificate,
  createDrain,
  type Drain,
} from './server/http-server.ts'
