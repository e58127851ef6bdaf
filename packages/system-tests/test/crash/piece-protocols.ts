import { credentials } from '@holdfast/testing'
import { send, type Answer } from './send.ts'

/** The file that comes in pieces. */
export interface FileInPieces {
  readonly name: string
  readonly content: Buffer
}

/** How a client speaks of uploads in pieces. */
export interface PieceProtocol {
  /** Begins an upload, with the first `size` bytes; `Location` in the answer says where it is. */
  begin(url: string, file: FileInPieces, size: number): Promise<Answer>
  /** Sends the bytes from `begin` to `end` to the upload at `path`. */
  append(
    url: string,
    path: string,
    file: FileInPieces,
    range: { readonly begin: number; readonly end: number },
  ): Promise<Answer>
  /** Asks where the upload at `path` stands. */
  look(url: string, path: string, who?: Readonly<Record<string, string>>): Promise<Answer>
  /** Whether the answer to {@link PieceProtocol.look} says that the file is there. */
  isComplete(answer: Answer, file: FileInPieces): boolean
  discard(url: string, path: string): Promise<Answer>
  /** The path of the upload `id`. */
  pathOf(id: string): string
}

const tusHeaders = { 'tus-resumable': '1.0.0' }
const tusContent = { 'content-type': 'application/offset+octet-stream' }

/** How an upload is begun whose length `lengthOf` says in a header, or says to come later. */
function beginTus(
  lengthOf: (file: FileInPieces) => Readonly<Record<string, string | number>>,
): PieceProtocol['begin'] {
  return (url, file, size) =>
    send(url, 'POST', '/resumable', file.content.subarray(0, size), {
      ...tusHeaders,
      ...(size > 0 && tusContent),
      ...lengthOf(file),
      'upload-metadata': `filename ${Buffer.from(file.name).toString('base64')}`,
    })
}

export const tus: PieceProtocol = {
  begin: beginTus(({ content }) => ({ 'upload-length': content.length })),
  append: (url, path, { content }, { begin, end }) =>
    send(url, 'PATCH', path, content.subarray(begin, end), {
      ...tusHeaders,
      ...tusContent,
      'upload-offset': begin,
    }),
  look: (url, path, who = credentials) =>
    send(url, 'HEAD', path, undefined, { ...tusHeaders, ...who }),
  isComplete: ({ headers }, { content }) => Number(headers['upload-offset']) === content.length,
  discard: (url, path) => send(url, 'DELETE', path, undefined, tusHeaders),
  pathOf: (id) => `/resumable/${id}`,
}

/** Says how long the file is only with the piece after the first ones. */
export const tusWithoutLength: PieceProtocol = {
  ...tus,
  begin: beginTus(() => ({ 'upload-defer-length': '1' })),
  append: (url, path, { content }, { begin, end }) =>
    send(url, 'PATCH', path, content.subarray(begin, end), {
      ...tusHeaders,
      ...tusContent,
      'upload-offset': begin,
      'upload-length': content.length,
    }),
}

const draftHeaders = { 'upload-draft-interop-version': '8' }
const completeness = (end: number, { content }: FileInPieces) => ({
  'upload-complete': end === content.length ? '?1' : '?0',
})

/** How an upload is begun by the draft, with further headers. */
const beginDraft =
  (headers: Readonly<Record<string, string>> = {}): PieceProtocol['begin'] =>
  (url, file, size) =>
    send(url, 'PUT', `/upload/${file.name}`, file.content.subarray(0, size), {
      ...headers,
      ...draftHeaders,
      ...completeness(size, file),
      'upload-length': file.content.length,
    })

export const draft: PieceProtocol = {
  begin: beginDraft(),
  append: (url, path, file, { begin, end }) =>
    send(url, 'PATCH', path, file.content.subarray(begin, end), {
      ...draftHeaders,
      ...completeness(end, file),
      'content-type': 'application/partial-upload',
      'upload-offset': begin,
    }),
  look: (url, path, who = credentials) =>
    send(url, 'HEAD', path, undefined, { ...draftHeaders, ...who }),
  isComplete: ({ headers }) => headers['upload-complete'] === '?1',
  discard: (url, path) => send(url, 'DELETE', path, undefined, draftHeaders),
  pathOf: (id) => `/uploads/${id}`,
}

export const draftCreateOnly: PieceProtocol = {
  ...draft,
  begin: beginDraft({ 'if-none-match': '*' }),
}
