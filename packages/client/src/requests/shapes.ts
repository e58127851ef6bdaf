/** Checks a value of JSON. A server may send anything. */
export type Shape = (value: unknown) => boolean

export const isText: Shape = (value) => typeof value === 'string'

/** A whole number from 0. */
export const isCount: Shape = (value) => Number.isSafeInteger(value) && Number(value) >= 0

export const isTime: Shape = (value) =>
  typeof value === 'string' && !Number.isNaN(new Date(value).getTime())

export const isOptional =
  (shape: Shape): Shape =>
  (value) =>
    value === undefined || shape(value)

export const isListOf =
  (shape: Shape): Shape =>
  (value) =>
    Array.isArray(value) && value.every(shape)

/** An object with these members, which pass their checks; it may have others. */
export const hasMembers =
  (members: Readonly<Record<string, Shape>>): Shape =>
  (value) =>
    typeof value === 'object' &&
    value !== null &&
    Object.entries(members).every(([name, shape]) =>
      shape((value as Record<string, unknown>)[name]),
    )

export const isDetails = hasMembers({
  name: isText,
  size: isCount,
  modified: isTime,
  type: isText,
  etag: isText,
  expires: isOptional(isTime),
})

const kept = { name: isText, version: isText, size: isCount, modified: isTime, type: isText }

export const isFileVersion = hasMembers({ ...kept, replaced: isTime })

export const isDeletedFile = hasMembers({ ...kept, deleted: isTime })

export const isUsage = hasMembers({
  files: isCount,
  bytes: isCount,
  quota: isOptional(isCount),
  maxFiles: isOptional(isCount),
  login: isOptional(isText),
  may: isOptional(isListOf(isText)),
  unfinished: hasMembers({ uploads: isCount, bytes: isCount }),
  kept: isOptional(hasMembers({ versions: isCount, bytes: isCount })),
})

export const isLink = hasMembers({
  url: (value) => typeof value === 'string' && URL.canParse(value, 'http://localhost'),
  expires: isTime,
})
