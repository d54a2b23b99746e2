import type { ErasureRequest, KeyErasure } from '../subject-keys.js'

/** An erasure as a row of a table. */
export interface StoredErasure {
  readonly ref: string
  readonly erased_at: string
  /** JSON text of the reason and the username, in ASCII, because not all databases can store all texts. */
  readonly request: string
  /** Null while the erasure is pending. */
  readonly events: number | null
}

export const requestText = ({ reason, username }: ErasureRequest): string =>
  JSON.stringify({ reason, username }).replaceAll(
    /[^ -~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

export function readErasure({ ref, erased_at, request, events }: StoredErasure): KeyErasure {
  const { reason, username } = JSON.parse(request) as ErasureRequest
  return { ref, erased_at, reason, username, events, isEnded: events !== null }
}
