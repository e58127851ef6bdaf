import {
  publish,
  refusalOfBeginning,
  type Beginning,
  type ModelAnswer,
  type ModelFiles,
  type ModelUpload,
} from './upload-model.ts'

/** What a PATCH of the draft says. */
export interface DraftAppend {
  readonly offset: number
  readonly bytes: Buffer
  readonly isLast: boolean
  readonly length?: number | undefined
  readonly digest?: 'right' | 'wrong' | undefined
}

export interface DraftBeginning extends Beginning {
  readonly isLast: boolean
}

/** The answers of the draft of resumable uploads, written from docs/api.md and the draft, and not from the code. */
export function draftModel(files: ModelFiles) {
  let upload: ModelUpload | undefined

  /** The length that the request declares, with what is known; `wrong` if these differ. */
  const lengthOf = ({ isLast, length, bytes }: DraftAppend | DraftBeginning, offset: number) => {
    const said = [upload?.length, length, isLast ? offset + bytes.length : undefined]
    const lengths = new Set(said.filter((number) => number !== undefined))
    return lengths.size > 1 ? 'wrong' : [...lengths][0]
  }
  /** Only its client completes an upload. */
  const finish = (isLast: boolean, success: ModelAnswer): ModelAnswer => {
    if (upload === undefined || !isLast) return success
    const end = publish(upload, files)
    if (end === 'published') return { status: 200 }
    if (end === 'mismatch') upload = undefined
    return { status: end === 'mismatch' ? 400 : 412 }
  }
  /** Adds the bytes of a request to the upload. */
  const store = (
    { bytes, digest, isLast }: DraftAppend | DraftBeginning,
    status: number,
  ): ModelAnswer => {
    if (upload === undefined) return { status: 404 }
    if (upload.bytes.length + bytes.length > (upload.length ?? Infinity)) {
      upload = undefined
      return { status: 413 }
    }
    if (digest === 'wrong') return { status: 400 }
    upload.bytes = Buffer.concat([upload.bytes, bytes])
    return finish(isLast, { status, offset: upload.bytes.length })
  }

  return {
    upload: () => upload,
    replace: (found: ModelUpload | undefined) => void (upload = found),

    begin(beginning: DraftBeginning): ModelAnswer {
      upload = undefined
      const length = lengthOf(beginning, 0)
      if (length === 'wrong') return { status: 400 }
      const { name, isCreateOnly, sha256, isLast } = beginning
      const refusal = refusalOfBeginning({ ...beginning, length: undefined }, files)
      if (refusal !== undefined) return { status: refusal }
      upload = {
        ...{ name, isCreateOnly, length, bytes: Buffer.alloc(0), isPublished: false },
        ...(sha256 !== undefined && { sha256 }),
      }
      if (length === 0 && isLast) {
        // Nothing of the body is read.
        const answer = finish(true, { status: 200 })
        if (answer.status !== 200) upload = undefined
        return answer
      }
      return store(beginning, 201)
    },

    append(append: DraftAppend): ModelAnswer {
      if (upload === undefined) return { status: 404 }
      const { offset, bytes, isLast } = append
      const isRepeated = upload.isPublished && isLast && bytes.length === 0
      if (offset !== upload.bytes.length || (upload.isPublished && !isRepeated)) {
        return { status: 409, offset: upload.bytes.length }
      }
      if (isRepeated) return { status: 200 }
      const length = lengthOf(append, offset)
      if (length === 'wrong') return { status: 400 }
      if (length !== undefined && length < upload.bytes.length) return { status: 409 }
      upload.length = length
      return store(append, 204)
    },

    head(): ModelAnswer {
      if (upload === undefined) return { status: 404 }
      return { status: 204, offset: upload.bytes.length }
    },

    end(): ModelAnswer {
      const status = upload === undefined ? 404 : 204
      upload = undefined
      return { status }
    },
  }
}
