import { types } from 'node:util'

/** The result of a function of the host that is not waited for. Throws a `TypeError` for a promise, whose rejection would end the process. */
export function noPromise<Value>(value: Value): Value {
  if (!types.isPromise(value)) return value
  value.catch(() => undefined)
  throw new TypeError('functions of recordRequests must not return promises')
}
