import {
  publish,
  refusalOfBeginning,
  type Beginning,
  type ModelAnswer,
  type ModelFiles,
  type ModelUpload,
} from './upload-model.ts'

/** What a PATCH of tus says. */
export interface TusAppend {
  readonly offset: number
  readonly bytes: Buffer
  /** `Upload-Length`, for an upload that has begun without one. */
  readonly length?: number | undefined
  readonly digest?: 'right' | 'wrong' | undefined
}

/** The answers of `/resumable`, written from docs/api.md and the protocol, and not from the code. */
export function tusModel(files: ModelFiles) {
  /** `undefined` once it is gone. */
  let upload: ModelUpload | undefined

  const finish = (success: ModelAnswer): ModelAnswer => {
    if (upload === undefined || upload.length !== upload.bytes.length) return success
    const end = publish(upload, files)
    if (end === 'published') return success
    if (end === 'mismatch') upload = undefined
    return { status: end === 'mismatch' ? 400 : 412 }
  }

  return {
    upload: () => upload,
    /** Takes over what an unclear request has made of it. */
    replace: (found: ModelUpload | undefined) => void (upload = found),

    begin(beginning: Beginning): ModelAnswer {
      const refusal = refusalOfBeginning(beginning, files)
      if (refusal !== undefined) return { status: refusal }
      const { name, isCreateOnly, length, bytes, digest, sha256 } = beginning
      const begun: ModelUpload = {
        ...{ name, isCreateOnly, length, bytes, isPublished: false },
        ...(sha256 !== undefined && { sha256 }),
      }
      if (bytes.length > 0 && digest === 'wrong') return { status: 460 }
      upload = begun
      const answer = finish({ status: 201, offset: bytes.length })
      // The client does not learn of an upload that fails with its beginning.
      if (answer.status !== 201) upload = undefined
      return answer
    },

    append({ offset, bytes, length, digest }: TusAppend): ModelAnswer {
      if (upload === undefined) return { status: 404 }
      if (length !== undefined) {
        if (upload.length !== undefined && upload.length !== length) return { status: 400 }
        if (length < upload.bytes.length) return { status: 409 }
      }
      const isAtEnd = offset === upload.bytes.length
      if (upload.isPublished && isAtEnd && bytes.length === 0) return { status: 204, offset }
      if (upload.isPublished || !isAtEnd) return { status: 409 }
      if (offset + bytes.length > (upload.length ?? length ?? Infinity)) return { status: 413 }
      upload.length ??= length
      if (digest === 'wrong') return { status: 460 }
      upload.bytes = Buffer.concat([upload.bytes, bytes])
      return finish({ status: 204, offset: upload.bytes.length })
    },

    head(): ModelAnswer {
      if (upload === undefined) return { status: 404 }
      const success = { status: 200, offset: upload.bytes.length }
      return upload.isPublished ? success : finish(success)
    },

    end(): ModelAnswer {
      const status = upload === undefined ? 404 : 204
      upload = undefined
      return { status }
    },
  }
}
