export {
  createDraft,
  type Draft,
  type DraftOptions,
  completenessAfter,
  headerOfPart,
  type DraftAnswer,
  type DraftRequest,
} from './draft.ts'
export { createTusHandler, type TusHandler, type TusHandlerOptions } from './tus-handler.ts'
export type { CreationOptions, UploadMetadata } from './tus-creation.ts'
export { createTus, tusHeaders, type Tus, type TusOptions } from './tus.ts'
export {
  errorAnswer,
  type ErrorAnswer,
  HttpProblem,
  statusText,
  type ProtocolRequest,
  type RequestHeaders,
  requirePath,
} from './request.ts'
export { tusProblems, type TusAnswer, type TusRequest } from './tus-request.ts'
