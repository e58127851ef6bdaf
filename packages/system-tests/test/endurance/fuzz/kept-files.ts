import type { CustomerFiles } from '@holdfast/core'

/** The contents of all of a customer's files, by name. */
export async function filesNow(files: CustomerFiles): Promise<Map<string, Buffer>> {
  const found = new Map<string, Buffer>()
  for await (const names of files.list()) {
    for (const name of names) found.set(name, await contentOf(files, name))
  }
  return found
}

/** Makes these all the files that the customer has. */
export async function setFiles(
  files: CustomerFiles,
  wanted: ReadonlyMap<string, Buffer>,
): Promise<void> {
  const found = await filesNow(files)
  for (const name of found.keys()) if (!wanted.has(name)) await files.delete(name)
  for (const [name, content] of wanted) {
    if (!found.get(name)?.equals(content))
      await files.upload(name, new Blob([Uint8Array.from(content)]).stream())
  }
}

async function contentOf(files: CustomerFiles, name: string): Promise<Buffer> {
  const { content } = await files.serve(name)
  const chunks: Uint8Array[] = []
  for await (const chunk of content) chunks.push(Uint8Array.from(chunk))
  return Buffer.concat(chunks)
}
