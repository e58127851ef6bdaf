import type { BenchRequest } from '../subjects/subject.ts'
import { sendBody, type Frame } from './send-body.ts'

/** Sends a file of `size` bytes by {@link sendBody}; resolves with the seconds until the answer has ended. */
export async function upload(
  port: number,
  request: BenchRequest,
  size: number,
  frame?: Frame,
): Promise<number> {
  const begin = performance.now()
  await sendBody(port, request, size, frame)
  return (performance.now() - begin) / 1000
}
