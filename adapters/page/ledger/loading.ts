import { signal } from '@preact/signals'
import { apiPath } from '../data/config.js'
import { ApiError, checked, get, isSignedOut } from '../data/api.js'
import { language } from '../data/language.js'
import { type Condition, type ProvedPlace, placeOf, retryMsOf } from './condition.js'

/** The ledger as it was last read; `undefined` before. */
export const condition = signal<Condition | undefined>(undefined)
/** Error of the last attempt to read it. */
export const failure = signal<Error | undefined>(undefined)

let reading: Promise<void> | undefined
let readAt = -Infinity

const MAX_AGE_MS = 60_000

/** True if the ledger was read not long ago. */
export const isFresh = (): boolean => performance.now() - readAt < MAX_AGE_MS

/** True if the service has refused to show the ledger. */
export const isRefused = (): boolean =>
  failure.value instanceof ApiError && failure.value.status < 500

async function read(): Promise<void> {
  try {
    const response = await get('/ledger')
    const { data } = (await response.json()) as { data: { attributes: Omit<Condition, 'now'> } }
    // The clock of the browser may be wrong.
    const now = Date.parse(response.headers.get('date') ?? '') || Date.now()
    condition.value = { ...data.attributes, now }
    failure.value = undefined
    readAt = performance.now()
  } catch (error) {
    failure.value = error as Error
  }
}

/** Reads the ledger. Calls at the same time share one request. Resolves also if it fails. */
export function readLedger(): Promise<void> {
  reading ??= read().finally(() => (reading = undefined))
  return reading
}

export interface ProofFile {
  readonly blob: Blob
  readonly name: string
  readonly place: ProvedPlace | undefined
}

/** An answer that the event is not sealed. */
export class NotSealed extends Error {
  /** Time after which to ask again, in milliseconds. */
  readonly retryMs: number

  constructor(retryAfter: string | null) {
    super('not sealed')
    this.retryMs = retryMsOf(retryAfter)
  }
}

async function requestProof(id: string, signal: AbortSignal): Promise<ProofFile> {
  const headers = { accept: 'text/plain', 'accept-language': language }
  const response = await fetch(`${apiPath}/${encodeURIComponent(id)}/proof`, { headers, signal })
  isSignedOut.value = response.status === 401
  try {
    const text = await (await checked(response)).text()
    const blob = new Blob([text], { type: 'text/plain' })
    return { blob, name: `event-${id}.tlog-proof`, place: placeOf(text) }
  } catch (error) {
    const isWaiting = error instanceof ApiError && error.problem?.code === 'NOT_SEALED'
    throw isWaiting ? new NotSealed(response.headers.get('retry-after')) : error
  }
}

/**
 * The proof of an event. If the event is not sealed, asks once more when the service says so. Rejects with `NotSealed`, `ApiError`, or the error of
 * `fetch`.
 */
export async function readProof(id: string, signal: AbortSignal): Promise<ProofFile> {
  try {
    return await requestProof(id, signal)
  } catch (error) {
    if (!(error instanceof NotSealed)) throw error
    await new Promise((resolve) => setTimeout(resolve, error.retryMs))
    return requestProof(id, signal)
  }
}
