import { AuditLogError } from '../../errors.js'

/**
 * Waits for a call. Pointers of its errors are relative to the resource; pointers of the response are relative to the document, where
 * the resource is at `place`. `toWireName` replaces members that are called differently over HTTP.
 */
export async function withPlace<Value>(
  place: string,
  call: () => Promise<Value>,
  toWireName: (text: string) => string = (text) => text,
): Promise<Value> {
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
