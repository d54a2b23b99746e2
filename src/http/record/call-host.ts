import type { RecordedExchange } from './exchange.js'
import { noPromise } from './no-promise.js'

/**
 * Calls a function of the host. If it throws, or returns a promise, its value is omitted and the request is still recorded.
 */
export function callHost<Value>(
  exchange: RecordedExchange<unknown>,
  call: () => Value,
): Value | undefined {
  try {
    return noPromise(call())
  } catch (error) {
    exchange.report(error)
    return undefined
  }
}
