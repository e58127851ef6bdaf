import type { Socket } from 'node:net'
import { onConnectionEnd } from '../exchange/endings.ts'
import type { StagedUpload } from '../body/stage-upload.ts'

/** Discards `staged` when its connection ends, or has ended already, unless the upload ends before. */
export function discardWithConnection(socket: Socket, staged: StagedUpload): void {
  const forget = onConnectionEnd(socket, () => void staged.discard())
  void staged.ended.then(forget)
}
