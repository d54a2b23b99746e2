import { STATUS_CODES } from 'node:http'
import { isError, shortReason, thrownText } from '../../event/failure.js'
import { isBytes } from '../../event/realm.js'
import type { RecordedExchange } from './exchange.js'
import { readableText } from './response-text.js'

/** How a request ended: with a response, or with a thrown value. */
export interface Ending {
  readonly thrown?: { readonly value: unknown }
  /** The reason that the response gave when its handler returned. */
  readonly reason?: string
  /** True if a response was sent after the handler had ended; undefined if that is not known yet. */
  readonly isAnswered?: boolean
}

/** How much of a body is kept until the response is sent. */
const MAX_REASON_READ = 65_536

/** The status with which servers respond to a thrown value. */
function thrownStatus(value: unknown): number {
  const { status, statusCode } = (isError(value) ? value : {}) as Readonly<Record<string, unknown>>
  const given = status || statusCode
  return typeof given === 'number' && STATUS_CODES[given] !== undefined ? given : 500
}

/** The status that the client receives. */
export function sentStatus(
  { status, isStarted }: RecordedExchange<unknown>,
  { thrown, isAnswered = false }: Ending,
): number {
  return thrown && !isStarted && !isAnswered ? thrownStatus(thrown.value) : status
}

/**
 * The status of the outcome: the status that was sent. After a thrown value it is the status of that value if
 * another status had been sent before, or if the response does not show the failure.
 */
export function endStatus(
  { status }: RecordedExchange<unknown>,
  { thrown, isAnswered = false }: Ending,
): number {
  return thrown && !(isAnswered && status >= 400) ? thrownStatus(thrown.value) : status
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Parsed JSON, or the text; undefined for binary data, pages and streams. */
export function parsedBody(given: unknown): unknown {
  const body = isBytes(given) ? readableText(given) : given
  if (typeof body === 'string') return /^\s*[[{]/.test(body) ? (parseJson(body) ?? body) : body
  return isStream(body) ? undefined : body
}

const isStream = (body: unknown): boolean =>
  ['pipe', 'getReader', 'arrayBuffer'].some((name) => name in (Object(body) as object))

/** The response to a request. */
export interface RecordedResponse {
  readonly status: number
  /**
   * The whole body as parsed JSON, or as text; undefined if there is none, if it was written in parts, is compressed, has more than 64 KiB,
   * or is a page or a stream. Koa's is what `ctx.body` holds. Do not change it.
   */
  readonly body: unknown
}

/** Reads the body only if it is asked for. A class, as an object with a getter would be made for each request. */
export class SentResponse implements RecordedResponse {
  readonly status: number
  readonly #exchange: RecordedExchange<unknown>

  constructor(exchange: RecordedExchange<unknown>, status: number) {
    this.#exchange = exchange
    this.status = status
  }

  get body(): unknown {
    return parsedBody(this.#exchange.responseBody)
  }
}

/** The detail or title of a JSON:API error, a text body, or the status text. */
function bodyReason({ responseBody: body, status }: RecordedExchange<unknown>): string {
  if (typeof body === 'string' && body !== '' && !body.startsWith('{')) return body
  const document = typeof body === 'string' ? parseJson(body) : body
  const { errors } = Object(document) as { errors?: unknown }
  const [first] = Array.isArray(errors) ? (errors as unknown[]) : []
  const { detail, title } = Object(first) as { detail?: unknown; title?: unknown }
  const reason = detail ?? title
  return typeof reason === 'string' ? reason : (STATUS_CODES[status] ?? '')
}

/** The reason that the response gives, before middleware further out may replace its body. */
export const readReason = (exchange: RecordedExchange<unknown>): string =>
  bodyReason(exchange).slice(0, MAX_REASON_READ)

/** Why a request was refused or failed, as a short text without recognisable secrets. */
export function reasonOf(
  exchange: RecordedExchange<unknown>,
  { thrown, reason: given }: Ending,
): string {
  return shortReason(thrown ? thrownText(thrown.value) : (given ?? bodyReason(exchange)))
}
