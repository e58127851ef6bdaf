import { uploadNotFound, uploadTakenOver } from '@holdfast/core'
import { isAbsence } from '../files/system-error.ts'
import type { UploadLease } from './upload-lease.ts'
import { wantedName, type UploadSite } from './upload-site.ts'

/** Milliseconds between two looks at what other processes want. */
const interval = 1000

/** The contents that this store writes now. */
export interface WatchedLeases {
  /** Calls `work`; its signal aborts when another process wants the content, or has it. */
  watch<T>(lease: UploadLease, work: (wanted: AbortSignal) => Promise<T>): Promise<T>
}

/** Makes the watch, which has one timer while anything is written, and none otherwise. */
export function createWatchedLeases({ calls }: Pick<UploadSite, 'calls'>): WatchedLeases {
  const watched = new Map<UploadLease, AbortController>()
  let timer: NodeJS.Timeout | undefined

  const look = async (lease: UploadLease, controller: AbortController) => {
    const names = lease.names()
    try {
      const entries = await calls.readdir(lease.directory)
      const isHere = [...names, ...lease.names()].some((name) => entries.includes(name))
      if (!isHere || entries.includes(wantedName)) controller.abort(uploadTakenOver())
    } catch (error) {
      if (isAbsence(error)) controller.abort(uploadNotFound())
    }
  }

  const lookAtAll = () => {
    for (const [lease, controller] of watched) void look(lease, controller)
  }

  return {
    async watch(lease, work) {
      const controller = new AbortController()
      watched.set(lease, controller)
      timer ??= setInterval(lookAtAll, interval).unref()
      try {
        return await work(controller.signal)
      } finally {
        watched.delete(lease)
        if (watched.size === 0) {
          clearInterval(timer)
          timer = undefined
        }
      }
    },
  }
}
