import { STATUS_CODES } from 'node:http'
import { inspect, types } from 'node:util'
import { redact } from '../../src/event/redact.js'
import type { RoutedContext } from './koa.js'

/** How a request ended: with an answer, or with whatever was thrown. */
export interface Ending {
  readonly thrown?: { readonly value: unknown }
}

const MAX_REASON = 2000
/** Of what is thrown and no error; its print is longer. */
const MAX_THROWN_BYTES = 65_536

const isError = (value: unknown): value is Error =>
  value instanceof Error || types.isNativeError(value)

/** The status that Koa's own error handling answers a thrown value with. */
function thrownStatus(value: unknown): number {
  const { status, statusCode } = (isError(value) ? value : {}) as Readonly<Record<string, unknown>>
  const given = status || statusCode
  return typeof given === 'number' && STATUS_CODES[given] !== undefined ? given : 500
}

/** The status that the client is sent, or has been. */
export function sentStatus(ctx: RoutedContext, { thrown }: Ending): number {
  return thrown && !ctx.res.headersSent ? thrownStatus(thrown.value) : ctx.res.statusCode
}

/** The status that says how it went, whatever had been sent before that. */
export function endStatus(ctx: RoutedContext, { thrown }: Ending): number {
  return thrown ? thrownStatus(thrown.value) : ctx.res.statusCode
}

function parseObject(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A JSON:API error's own words, a short text body, or what the status says. */
function bodyReason({ body, status }: RoutedContext): string {
  if (typeof body === 'string' && body !== '' && !body.startsWith('{')) return body
  const document = typeof body === 'string' ? parseObject(body) : body
  const { errors } = Object(document) as { errors?: unknown }
  const [first] = Array.isArray(errors) ? (errors as unknown[]) : []
  const { detail, title } = Object(first) as { detail?: unknown; title?: unknown }
  const reason = detail ?? title
  return typeof reason === 'string' ? reason : (STATUS_CODES[status] ?? '')
}

/** Why a request was refused or failed, in few words. */
export function reasonOf(ctx: RoutedContext, { thrown }: Ending): string {
  const reason = thrown ? thrownReason(thrown.value) : bodyReason(ctx)
  return reason.slice(0, MAX_REASON)
}

function thrownReason(value: unknown): string {
  const told: unknown = isError(value) ? value.message : value
  return isError(value) && typeof told === 'string' ? told : inspect(redact(told, MAX_THROWN_BYTES))
}

export function backtraceOf({ thrown }: Ending): string | undefined {
  return thrown && isError(thrown.value) ? thrown.value.stack : undefined
}
