import type { Answer } from './answer.ts'
import { formType } from './form.ts'
import { requestHead } from './request-head.ts'
import type { RunningService } from './running-service.ts'

/** The head of an upload by {@link RunningService.anna} whose form takes `length` bytes. */
export function formHead(
  service: RunningService,
  length: number,
  headers: Readonly<Record<string, string>> = {},
  path = '/upload',
): Buffer {
  return requestHead('POST', path, {
    ...service.anna.headers,
    'Content-Type': formType,
    'Content-Length': length,
    ...headers,
  })
}

/** Uploads exactly these bytes as the body of POST /upload, or of another path. */
export function sendForm(
  service: RunningService,
  body: Uint8Array,
  headers: Readonly<Record<string, string>> = {},
  path?: string,
): Promise<Answer> {
  return service.exchange(formHead(service, body.length, headers, path), body)
}
