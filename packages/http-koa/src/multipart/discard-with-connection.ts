import type { Socket } from 'node:net'
import type { StagedUpload } from './stage-upload.ts'

const pending = new WeakMap<Socket, Set<StagedUpload>>()

/** Discards `staged` when its connection ends, or has ended already, unless the upload ends before. */
export function discardWithConnection(socket: Socket, staged: StagedUpload): void {
  if (socket.destroyed) {
    void staged.discard()
    return
  }
  const uploads = pending.get(socket) ?? watch(socket)
  uploads.add(staged)
  // The connection may live on for thousands of uploads.
  void staged.ended.then(() => uploads.delete(staged))
}

/** One listener a connection: a form may have many files. */
function watch(socket: Socket): Set<StagedUpload> {
  const uploads = new Set<StagedUpload>()
  pending.set(socket, uploads)
  socket.once('close', () => {
    for (const upload of uploads) void upload.discard()
  })
  return uploads
}
