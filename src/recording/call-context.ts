import type { JsonObject } from '../event/event.js'
import { activeSpan, type TraceIds } from './active-span.js'
import { ALONE, currentContext, type KnownActor, LateActor, type AsyncContext } from './actor.js'

/** What a call gets from where it is made. */
export interface CallContext {
  readonly username: string | null
  /** The attributes of the event, unless the call gives them. */
  readonly attributes?: JsonObject | undefined
}

const knownActor = (context: AsyncContext): KnownActor =>
  context.actor instanceof LateActor ? context.actor.read() : context

function attributesOf(
  request_id: string | undefined,
  trace: TraceIds | undefined,
  ofActor: JsonObject | undefined,
): JsonObject | undefined {
  if (request_id === undefined && !trace) return ofActor
  const attributes: JsonObject = {}
  if (request_id !== undefined) attributes['request_id'] = request_id
  if (trace) {
    attributes['trace_id'] = trace.trace_id
    attributes['span_id'] = trace.span_id
  }
  return ofActor ? Object.assign(attributes, ofActor) : attributes
}

/**
 * The user that a call names, or else the current actor, with the ids of the request and of the active span.
 * A given null means that there is no user, even if there is an actor. Attributes of the actor are left out
 * if the call names another user.
 */
export function callContext(given: string | null | undefined): CallContext {
  const context = currentContext()
  if (context === ALONE) return { username: given ?? null }
  const known = context && knownActor(context)
  const acting = known?.actor.username ?? null
  const username = given === undefined ? acting : given
  const request = context?.request
  const attributes = attributesOf(
    request?.request_id,
    activeSpan() ?? request?.trace,
    username === acting ? known?.attributes : undefined,
  )
  return { username, attributes }
}
