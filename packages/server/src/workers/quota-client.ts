import { isLimited, type QuotaClaim, type QuotaKeeper } from '@holdfast/core'
import type { RpcChannel } from './rpc-channel.ts'
import type { QuotaHandlers } from './quota-server.ts'

/** For customers without limits the primary is not asked. */
const noClaim: QuotaClaim = {
  grow() {},
  stage() {},
  prepare: async () => {},
  settle() {},
  end() {},
}

/** A keeper whose books are on the other side of `primary`, see `createQuotaServer`. */
export function createQuotaClient(primary: RpcChannel<QuotaHandlers>): QuotaKeeper {
  return {
    async claim(customer, name, size = 0, upload?: string) {
      if (!isLimited(customer)) return noClaim
      const claimed = { customer, name, size, ...(upload !== undefined && { upload }) }
      return remoteClaim(primary, await primary.ask('claim', claimed))
    },

    async free(customer, name, remove) {
      if (!isLimited(customer)) return remove()
      const { id } = await primary.ask('beginRemoval', { customer, name })
      try {
        const removed = await remove()
        // A client that has read that the file is gone may count on the room.
        await primary.ask('endRemoval', { id, removed })
        return removed
      } catch (error) {
        primary.notify('endRemoval', { id })
        throw error
      }
    },

    async beginUpload(customer, most, begin) {
      const { id } = await primary.ask('beginUpload', { customer, most })
      try {
        const upload = await begin()
        primary.notify('endBeginning', { id, upload: upload.id })
        return upload
      } catch (error) {
        primary.notify('endBeginning', { id })
        throw error
      }
    },
    async endUpload(customer, upload) {
      // Without an answer the primary is gone, and counts anew when it is back; the upload has ended all the same.
      await primary.ask('endUpload', { customer, upload }).catch(() => {})
    },

    async release(customer, upload) {
      if (isLimited(customer)) await primary.ask('release', { customer, upload })
    },
    releaseGone: async () => primary.ask('releaseGone', {}),
  }
}

/** A claim that the primary knows as `id`, and for which `room` bytes are reserved there. */
function remoteClaim(
  primary: RpcChannel<QuotaHandlers>,
  { id, room }: { id: number; room: number },
): QuotaClaim {
  /** Bytes that have arrived and that the primary does not know of. */
  let unreported = 0
  let left = room
  let ended = false
  let settled = false

  const ask = async () => {
    const bytes = unreported
    unreported = 0
    left = (await primary.ask('grow', { id, bytes })).room - unreported
  }
  return {
    grow(bytes) {
      if (ended) return undefined
      unreported += bytes
      left -= bytes
      return left < 0 ? ask() : undefined
    },
    stage(offset) {
      if (ended) return
      unreported = 0
      primary.notify('stage', { id, offset })
    },
    prepare: async () => primary.ask('prepare', { id, bytes: unreported }),
    settle() {
      settled = true
    },
    end() {
      if (!ended) primary.notify('end', { id, settled })
      ended = true
    },
  }
}
