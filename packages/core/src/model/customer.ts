/** An authenticated owner of files. */
export interface Customer {
  readonly name: string
  /** The most bytes the customer may keep. Default: no limit. */
  readonly quota?: number
  /** The most files the customer may keep. Default: no limit. */
  readonly maxFiles?: number
}

/** Whether what the customer keeps is limited in any way. */
export function isLimited({ quota, maxFiles }: Customer): boolean {
  return quota !== undefined || maxFiles !== undefined
}
