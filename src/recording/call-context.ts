import { createRequire } from 'node:module'
import type * as OpenTelemetry from '@opentelemetry/api'
import { AuditLogError } from '../errors.js'
import type { JsonObject } from '../event/event.js'
import type { EventTypeDefinition } from '../event/event-types.js'
import { storableText } from '../event/json-copy.js'
import { moduleUrl } from '../store/module-url.js'
import {
  type Actor,
  ALONE,
  type AsyncContext,
  currentContext,
  type KnownActor,
  LateActor,
  type TraceIds,
  withActor,
} from './actor.js'
import { warn } from '../async/warn.js'
import { type CallAttributes, callAttributes, happened } from './call-attributes.js'

/** Key of `globalThis` under which an SDK registers. All copies of version 1 of the package use this key. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1')

/** `null` if the package cannot be loaded. */
let api: typeof OpenTelemetry | null | undefined

function load(): typeof OpenTelemetry | null {
  try {
    return createRequire(moduleUrl)('@opentelemetry/api') as typeof OpenTelemetry
  } catch (error) {
    const [reason] = String(error).split('\n', 1)
    warn(
      `events get no ids of OpenTelemetry spans, because @opentelemetry/api cannot be loaded (${reason}): npm install @opentelemetry/api`,
    )
    return null
  }
}

/**
 * The ids of the active OpenTelemetry span; `undefined` without a span. The package is loaded only after something
 * has been registered with it. This saves about 20 ms in processes that have the package but do not use it.
 */
export function activeSpan(): TraceIds | undefined {
  if (!(REGISTERED in globalThis)) return undefined
  if (api === undefined) api = load()
  const span = api?.trace.getSpanContext(api.context.active())
  if (!span || !api!.isSpanContextValid(span)) return undefined
  return { trace_id: span.traceId, span_id: span.spanId }
}

/** The user and the attributes of the context of a call. */
export interface CallContext {
  readonly username: string | null
  /** Attributes that the event gets unless its data has them. */
  readonly attributes?: JsonObject | undefined
  /** The attributes that options of the call give. The data must not have them too. */
  readonly given?: JsonObject | undefined
  /** The source of the event if neither its type nor a link gives one. */
  readonly source?: string | undefined
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
 * The user of a call, or else the current actor, with the ids of the request and of the active span. An explicit null
 * means that there is no user, even within an actor. Attributes of the actor are left out if the call names another
 * user.
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

/** Options of a call that names its user. */
export interface ContextOptions extends CallAttributes {
  readonly username?: string | null | undefined
}

/** The context of a call with these options; the call may give other values for `inherited`. Throws `INVALID_OPTION`. */
export function contextOf(
  options: ContextOptions | undefined,
  inherited?: JsonObject,
): CallContext {
  const context = callContext(options?.username)
  const given = callAttributes(options)
  if (!given && !inherited) return context
  return { ...context, attributes: { ...inherited, ...context.attributes }, given }
}

/** The context with the outcome that events of the type have, unless their data has one. */
export function withOutcome(
  context: CallContext,
  definition: EventTypeDefinition | undefined,
  data: object,
): CallContext {
  const outcome = definition?.outcome
  if (outcome === undefined || happened.has(data)) return context
  return { ...context, attributes: { ...context.attributes, outcome } }
}

/** The arguments of `captureAs` after the transaction. Without an actor it is the current one. */
export type CaptureAsArguments<Result> =
  | readonly [run: () => Result]
  | readonly [actor: Actor | string | null, run: () => Result]

/** The user and the attributes of events of captured changes. */
export interface CaptureContext {
  readonly username: string | null
  /** JSON text of an object with at least one member; `null` without attributes. */
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
 * Reads the arguments of `captureAs`. Captured events get the same context as events of `record`: the actor, the ids
 * of the request and the ids of the active span. Throws `INVALID_OPTION`.
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
