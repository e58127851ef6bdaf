import { ApiError } from './api-error.ts'
import type { Connection } from './connection.ts'

export interface Usage {
  readonly bytes: number
  /** `undefined`: as much as there is room. */
  readonly quota: number | undefined
}

/** `undefined` where the server does not say it. */
export async function readUsage(connection: Connection): Promise<Usage | undefined> {
  try {
    const response = await connection.request('usage')
    const { bytes, quota } = (await response.json()) as { bytes: number; quota?: number | null }
    return { bytes, quota: quota ?? undefined }
  } catch (error) {
    if (error instanceof ApiError) return undefined
    throw error
  }
}
