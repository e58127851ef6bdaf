export { createApp } from './app.ts'
export type { Audit, AuditEvent } from './guards/audit.ts'
export {
  type HoldfastState,
  routes,
  type AnsweredRequest,
  type OnAnswered,
  type Route,
} from './exchange/exchange.ts'
export { createAddressSet, createAddressOf, type AddressOf } from './guards/address-of.ts'
export type { HttpLog } from './errors/log.ts'
export { errorBody, type ErrorBody } from './errors/problem.ts'
export { HttpProblem } from '@holdfast/resumable'
export { toProblem } from './errors/status.ts'
export { httpSteps, type HttpStep } from './answer/step.ts'
export { createAccessLog, requestId } from './guards/request-log.ts'
export {
  createAuthentication,
  headerAuthentication,
  type Authenticate,
  type LoginResult,
  type OnLogin,
} from './guards/authenticate.ts'
export { createErrors } from './guards/errors.ts'
export { linkLimits, type RequestCounter } from './guards/limit-requests.ts'
export {
  multerOptions,
  createMulterStorage,
  type MulterStorage,
  type MulterStorageOptions,
  type UploadedPart,
} from './multipart/multer-storage.ts'
export type { StagedUpload } from './body/stage-upload.ts'
export type { PageFile, PageFiles } from './routes/page.ts'
export { createRouter } from './router.ts'
export type { RouterOptions } from './router-options.ts'
export { createHttpServer, type HttpApp, type HttpServerOptions } from './server/http-server.ts'
export {
  createHttpsServer,
  replaceCertificate,
  type ServerCertificate,
  createWireFinder,
} from './server/https-server.ts'
