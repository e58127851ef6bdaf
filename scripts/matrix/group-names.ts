// What the groups of some suites are called beside those of `describeBlobStore`, some of which have the same name.

export function renamingGroup(group: string): string {
  return `renaming: ${group}`
}

export function linksGroup(group: string): string {
  return `ended links: ${group}`
}

export function expiryGroup(group: string): string {
  return `expiry: ${group}`
}

export function historyGroup(group: string): string {
  return `history: ${group}`
}

export function uploadGroup(group: string): string {
  return `uploads in pieces: ${group}`
}
