import { STATUS_CODES } from 'node:http'
import { inspect } from 'node:util'
import { LRUCache } from 'lru-cache'
import type { AuditLog } from '../../src/audit-log.js'
import { AuditLogError } from '../../src/errors.js'
import { redact } from '../../src/redact.js'
import { type UsernameOption, usernameOf } from './exchange.js'
import type { KoaMiddleware, RoutedContext } from './koa.js'
import { isMutating, routeType } from './route-type.js'
import { isFeedRequest } from './unrecorded.js'

export interface RecordRequestsOptions extends UsernameOption {
  /**
   * Adds to a request's event what the route knows: `name`, `parent`, link attributes. Called once
   * the response is known, for requests that leave an event.
   */
  describe?(ctx: RoutedContext): Readonly<Record<string, unknown>> | undefined
}

type RecordingAudit = Pick<AuditLog, 'recordSystem' | 'types'>

const UNHANDLED = 'error:api:controller:unhandled'
const MAX_REASON = 2000
const REJECTED_LOGINS_MS = 60_000

/** The status that Koa's own error handling answers a thrown value with. */
function thrownStatus(error: unknown): number {
  const { status, statusCode, code } = Object(error) as Record<string, unknown>
  if (code === 'ENOENT') return 404
  const given = status ?? statusCode
  return typeof given === 'number' && STATUS_CODES[given] ? given : 500
}

/** A JSON:API error's own words, a short text body, or what the status says. */
function bodyReason(ctx: RoutedContext): string {
  const { body } = ctx
  if (typeof body === 'string' && body !== '' && !body.startsWith('{'))
    return body.slice(0, MAX_REASON)
  const document = typeof body === 'string' ? parseObject(body) : body
  const { errors } = Object(document) as { errors?: unknown }
  const [first] = Array.isArray(errors) ? (errors as unknown[]) : []
  const { detail, title } = Object(first) as { detail?: unknown; title?: unknown }
  const reason = detail ?? title
  return typeof reason === 'string' ? reason.slice(0, MAX_REASON) : (STATUS_CODES[ctx.status] ?? '')
}

function parseObject(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Of a JSON:API request its attributes, else the body; only what a parser of the host's has read. */
function requestBody(ctx: RoutedContext): unknown {
  const { body } = ctx.request as { body?: unknown }
  const { data } = Object(body) as { data?: unknown }
  const { attributes } = Object(data) as { attributes?: unknown }
  const sent = attributes ?? body
  // Parsers give an empty object for a request without a body.
  return sent !== null && Object.keys(Object(sent) as object).length === 0
    ? undefined
    : redact(sent)
}

function requestData(ctx: RoutedContext, status: number): Record<string, unknown> {
  const body = requestBody(ctx)
  const params = ctx.params ?? {}
  return {
    request_method: ctx.method,
    request_path: ctx.path,
    ...(body !== undefined && { request_body: body }),
    ...(Object.keys(params).length > 0 && { url_params: redact(params) }),
    response_status: status,
  }
}

function reason(ctx: RoutedContext, thrown: unknown): string {
  if (thrown === undefined) return bodyReason(ctx)
  return thrown instanceof Error ? thrown.message : inspect(thrown)
}

/** Refused logins are told once a minute for each address, with how many there were before. */
function loginLimiter(): (address: string) => { count: number } | undefined {
  const seen = new LRUCache<string, { held: number; until: number }>({ max: 10_000 })
  return (address) => {
    const entry = seen.get(address)
    const now = performance.now()
    if (entry && now < entry.until) {
      entry.held++
      return undefined
    }
    seen.set(address, { held: 0, until: now + REJECTED_LOGINS_MS })
    return { count: (entry?.held ?? 0) + 1 }
  }
}

/**
 * Koa middleware that records requests, to be mounted outside everything that it should see:
 *
 * - a mutating request (POST, PUT, PATCH, DELETE) that succeeds: `api:<controller>:<method>`;
 * - one that is answered 4xx: `error:<controller>:<method>`, with the reason in `error`
 *   (401 once a minute for each address, with the `count`);
 * - any request answered 5xx or ended by an error: `error:api:controller:unhandled`.
 *
 * Controller and method come from the route that @koa/router matched: its name, or its path by
 * Rails' manner. The event is durable before the response is sent; where it cannot be recorded the
 * log's `rejected` event tells, and the response goes all the same. The response is never changed.
 */
export function recordRequests(
  audit: RecordingAudit,
  options: RecordRequestsOptions = {},
): KoaMiddleware {
  const admitLogin = loginLimiter()

  const eventOf = (
    ctx: RoutedContext,
    status: number,
    thrown: unknown,
  ): [type: string, data: object] | undefined => {
    if (isFeedRequest(audit, ctx)) return undefined
    if (status >= 500) {
      const { stack: backtrace } = Object(thrown) as { stack?: string }
      return [UNHANDLED, { error: reason(ctx, thrown), ...(backtrace && { backtrace }) }]
    }
    if (!isMutating(ctx)) return undefined
    const { controller, method } = routeType(ctx, audit.types)
    if (status < 400) return [`api:${controller}:${method}`, {}]
    const admitted = status === 401 ? admitLogin(ctx.ip) : {}
    return (
      admitted && [`error:${controller}:${method}`, { error: reason(ctx, thrown), ...admitted }]
    )
  }

  /** What the host cannot describe is recorded all the same. */
  const describe = (ctx: RoutedContext): Readonly<Record<string, unknown>> => {
    try {
      return options.describe?.(ctx) ?? {}
    } catch (error) {
      ctx.app.emit('error', error, ctx)
      return {}
    }
  }

  const record = async (ctx: RoutedContext, status: number, thrown?: unknown): Promise<void> => {
    try {
      const event = eventOf(ctx, status, thrown)
      if (!event) return
      const [type, data] = event
      const described = { ...requestData(ctx, status), ...describe(ctx), ...data }
      await audit.recordSystem(type, described, { username: usernameOf(ctx, options) })
    } catch (error) {
      // It must not cost the client the response. What the log rejected it has told itself.
      if (!(error instanceof AuditLogError)) ctx.app.emit('error', error, ctx)
    }
  }

  return async function recordRequests(ctx, next) {
    try {
      await next()
    } catch (error) {
      await record(ctx, thrownStatus(error), error)
      throw error
    }
    await record(ctx, ctx.status)
  }
}
