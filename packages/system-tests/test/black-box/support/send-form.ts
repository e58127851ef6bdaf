import type { Answer } from './answer.ts'
import { formType } from './form.ts'
import { requestHead } from './request-head.ts'
import type { RunningService } from './running-service.ts'

/** The head of an upload by {@link RunningService.anna} whose form takes `length` bytes. */
export function formHead(
  service: RunningService,
  length: number,
  headers: Readonly<Record<string, string>> = {},
): Buffer {
  return requestHead('POST', '/upload', {
    ...service.anna.headers,
    'Content-Type': formType,
    'Content-Length': length,
    ...headers,
  })
}

/** Uploads exactly these bytes as the body of POST /upload. */
export function sendForm(
  service: RunningService,
  body: Uint8Array,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  return service.exchange(formHead(service, body.length, headers), body)
}
