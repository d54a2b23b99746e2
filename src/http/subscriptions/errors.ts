import { AuditLogError } from '../../errors.js'

/** Members that are called differently over HTTP. */
const toWireName = (text: string): string => text.replace('whenStuck', 'when_stuck')

/**
 * Waits for a call of the log. Pointers of its errors are relative to the resource; those of the response to the document, where
 * the resource is at `place`.
 */
export async function withPlace<Value>(place: string, call: () => Promise<Value>): Promise<Value> {
  try {
    return await call()
  } catch (error) {
    if (!(error instanceof AuditLogError) || error.pointer === undefined) throw error
    const { code, message, pointer, suggestion } = error
    throw new AuditLogError(code, toWireName(message), {
      pointer: place + toWireName(pointer),
      suggestion,
      cause: error,
    })
  }
}
