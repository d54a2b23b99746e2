import { decodeDrafts, encodeDrafts } from '../schema/draft-memory.js'
import type { AppendRequest } from './append.js'

/** A request with the drafts in memory that is handed to another thread. */
export interface EncodedRequest extends Omit<AppendRequest, 'drafts'> {
  readonly drafts: ArrayBuffer
}

export const encodeRequest = (request: AppendRequest): EncodedRequest => ({
  ...request,
  drafts: encodeDrafts(request.drafts),
})

export const decodeRequest = (request: EncodedRequest): AppendRequest => ({
  ...request,
  drafts: decodeDrafts(request.drafts),
})
