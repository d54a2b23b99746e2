import type { HttpResponse } from './exchange.js'
import { errorResponse } from './problem.js'

/** Calls a function of the host. */
export type CallHost = <Value>(call: () => Value | Promise<Value>) => Promise<Value>

/**
 * The response of `handle`, or the JSON:API response for the `HttpProblem` or `AuditLogError` that it throws. Other errors
 * are rethrown, and so is an error of a function of the host, even if it looks like one that the client caused.
 */
export async function respondToErrors(
  handle: (callHost: CallHost) => Promise<HttpResponse>,
): Promise<HttpResponse> {
  let failure: { readonly error: unknown } | undefined
  const callHost: CallHost = async (call) => {
    try {
      return await call()
    } catch (error) {
      failure = { error }
      throw error
    }
  }
  try {
    return await handle(callHost)
  } catch (error) {
    if (failure && failure.error === error) throw error
    return errorResponse(error)
  }
}
