import { AuditLogError, type AuditLogErrorCode } from '../errors.js'

const TRANSIENT_CODES: ReadonlySet<AuditLogErrorCode> = new Set(['STORE_FAILED', 'QUERY_TIMEOUT'])

/** Resolves to `undefined`, after `onFailure`, if the store failed in a way that may pass. */
export async function ignoreTransient<Answer>(
  request: Promise<Answer>,
  onFailure: (code: AuditLogErrorCode) => void,
): Promise<Answer | undefined> {
  try {
    return await request
  } catch (error) {
    if (!(error instanceof AuditLogError) || !TRANSIENT_CODES.has(error.code)) throw error
    onFailure(error.code)
    return undefined
  }
}
