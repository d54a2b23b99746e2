import { usageError } from '../terminal/exit-codes.js'
import type { Call } from './command.js'

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i

/** The argument `id` of a command on one event. Throws a usage error unless it is a UUID. */
export function readEventId(call: Call): string {
  const id = String(call.arguments['id'])
  if (UUID.test(id)) return id
  throw usageError(`${id} is not an id; ids are UUIDs`)
}
