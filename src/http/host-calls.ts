import type { HttpResponse } from './exchange.js'
import { errorResponse } from './problem.js'
import { rethrow } from './thrown-error.js'

/** Calls a function of the host. */
export type CallHost = <Value>(call: () => Value | Promise<Value>) => Promise<Value>

type Handle = (callHost: CallHost) => Promise<HttpResponse>

/**
 * The response of `handle`, or the JSON:API response for the `HttpProblem` or `AuditLogError` that it throws. Rejects with
 * other errors, and with an error of a function of the host, even if it looks like one that the client caused; see `thrownError`.
 */
export const respondToErrors = (handle: Handle): Promise<HttpResponse> =>
  answerErrors(handle).catch(rethrow)

async function answerErrors(handle: Handle): Promise<HttpResponse> {
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
