/** What a group of `describeResumableUploads` is called beside the groups of `describeBlobStore`, some of which have its name. */
export function uploadGroup(group: string): string {
  return `uploads in pieces: ${group}`
}
