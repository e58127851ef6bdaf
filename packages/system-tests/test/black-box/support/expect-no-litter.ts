import { until } from '@holdfast/testing'
import type { RunningService } from './running-service.ts'

/**
 * Nothing is left of an upload that was refused. An answer comes as soon as its reason is known, which may be a moment
 * before the last of the upload is gone.
 */
export function expectNoLitter(service: Pick<RunningService, 'litter'>): Promise<void> {
  return until('no litter is left', async () => (await service.litter()).length === 0)
}
