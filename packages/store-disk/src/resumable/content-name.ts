/**
 * What the name of an upload's content says. The name is what makes an upload safe: to change it is one step of the file
 * system, which fails if another process has changed it before (docs/decisions/031-offset-and-owner-in-a-name.md).
 */
export interface ContentName {
  /** So many bytes of the content count: the name with them is durable. */
  readonly offset: number
  /** So many bytes are durable, and will count once this name is. */
  readonly pending?: number
  /** The process that writes, as its directory in `tmp` is called; none if no one writes. */
  readonly owner?: string
  /** Whether an earlier owner, who was silent and may come back, still has the file open. */
  readonly isShared: boolean
}

const pattern = /^bytes-(\d{1,16})(?:\+(\d{1,16}))?(~?)(?:=(.+))?$/

/** The file name that says this. */
export function formatContentName({ offset, pending, owner, isShared }: ContentName): string {
  const bytes = pending === undefined ? `${offset}` : `${offset}+${pending}`
  return `bytes-${bytes}${isShared ? '~' : ''}${owner === undefined ? '' : `=${owner}`}`
}

/** What the file name `name` says; `undefined` if it is not the name of a content. */
export function parseContentName(name: string): ContentName | undefined {
  const [match, offset, pending, shared, owner] = pattern.exec(name) ?? []
  if (match === undefined) return undefined
  return {
    offset: Number(offset),
    ...(pending !== undefined && { pending: Number(pending) }),
    ...(owner !== undefined && { owner }),
    isShared: shared === '~',
  }
}
