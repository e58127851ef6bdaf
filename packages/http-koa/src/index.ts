export { createApp } from './app.ts'
export type { HoldfastState } from './holdfast-state.ts'
export { createAddressOf, type AddressOf } from './http/address-of.ts'
export type { HttpLog } from './http/log.ts'
export { createAccessLog } from './middleware/access-log.ts'
export {
  createAuthentication,
  headerAuthentication,
  type Authenticate,
} from './middleware/authenticate.ts'
export { createErrors } from './middleware/errors.ts'
export { requestId } from './middleware/request-id.ts'
export {
  createMulterStorage,
  type MulterStorage,
  type MulterStorageOptions,
  type UploadedPart,
} from './multipart/multer-storage.ts'
export type { StagedUpload } from './multipart/stage-upload.ts'
export { createRouter, type RouterOptions } from './router.ts'
export { createHttpServer, type HttpServerOptions } from './server/http-server.ts'
