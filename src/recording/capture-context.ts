import { AuditLogError } from '../errors.js'
import { storableText } from '../event/json-copy.js'
import type { Actor } from './actor-attributes.js'
import { withActor } from './actor.js'
import { callContext } from './call-context.js'

/** The arguments of `captureAs` after the transaction. Without an actor it is the current one. */
export type CaptureAsArguments<Result> =
  | readonly [run: () => Result]
  | readonly [actor: Actor | string | null, run: () => Result]

/** What events of captured changes get. */
export interface CaptureContext {
  readonly username: string | null
  /** JSON text of an object with at least one member; `null` if there are no attributes. */
  readonly attributes: string | null
}

const isName = (username: unknown): boolean => username === null || typeof username === 'string'

function checkActor(actor: Actor | string | null): void {
  const isObject = actor !== null && typeof actor === 'object'
  if (isName(isObject ? actor.username : actor)) return
  throw new AuditLogError(
    'INVALID_OPTION',
    isObject
      ? `username of an actor must be a text or null; it is of type ${typeof actor.username}`
      : `actor must be a name, null or an object with a username; it is of type ${typeof actor}`,
  )
}

/**
 * Reads the arguments of `captureAs`. Captured events get what `record` would give one in the same place: the
 * actor, the ids of the request and those of the active span. Throws `INVALID_OPTION`.
 */
export function readCaptureArguments<Result>(given: CaptureAsArguments<Result>): {
  readonly context: CaptureContext
  readonly run: () => Result
} {
  const [first, second] = given
  const isGiven = typeof first !== 'function'
  if (isGiven) checkActor(first)
  const run = isGiven ? second : first
  if (typeof run !== 'function')
    throw new AuditLogError('INVALID_OPTION', 'run must be a function, the last argument')
  const current = (): ReturnType<typeof callContext> => callContext(undefined)
  const { username, attributes } = isGiven ? withActor(first, current) : current()
  return {
    context: {
      username: username === null ? null : storableText(username),
      attributes: attributes ? JSON.stringify(attributes) : null,
    },
    run,
  }
}
