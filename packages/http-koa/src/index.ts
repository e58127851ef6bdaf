export { createApp } from './app.ts'
export type { Audit, AuditEvent } from './audit/audit.ts'
export type { HoldfastState } from './exchange/holdfast-state.ts'
export { createAddressSet } from './address/address-set.ts'
export { createAddressOf, type AddressOf } from './address/address-of.ts'
export {
  routes,
  type AnsweredRequest,
  type OnAnswered,
  type Route,
} from './exchange/answered-request.ts'
export type { HttpLog } from './errors/log.ts'
export { errorBody, type ErrorBody } from './errors/problem.ts'
export { HttpProblem } from '@holdfast/resumable'
export { toProblem } from './errors/status.ts'
export { httpSteps, type HttpStep } from './answer/step.ts'
export { createAccessLog } from './middleware/access-log.ts'
export {
  createAuthentication,
  headerAuthentication,
  type Authenticate,
} from './middleware/authenticate.ts'
export type { LoginResult, OnLogin } from './middleware/report-logins.ts'
export { createErrors } from './middleware/errors.ts'
export { requestId } from './middleware/request-id.ts'
export { linkLimits, type RequestCounter } from './middleware/limit-requests.ts'
export { multerOptions } from './multipart/multer-options.ts'
export {
  createMulterStorage,
  type MulterStorage,
  type MulterStorageOptions,
  type UploadedPart,
} from './multipart/multer-storage.ts'
export type { StagedUpload } from './body/stage-upload.ts'
export type { PageFile, PageFiles } from './page/page.ts'
export { createRouter } from './router.ts'
export type { RouterOptions } from './router-options.ts'
export { createHttpServer } from './server/http-server.ts'
export {
  createHttpsServer,
  replaceCertificate,
  type ServerCertificate,
} from './server/https-server.ts'
export type { HttpApp, HttpServerOptions } from './server/prepare-server.ts'
export { createWireFinder } from './server/wire-finder.ts'
