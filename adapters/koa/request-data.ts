import { AuditLogError } from '../../src/errors.js'
import { parseTraceparent } from '../../src/http/trace-context.js'
import { redactWithin } from '../../src/event/redact.js'
import { type IsSecret, type RedactOptions, secretsOf } from '../../src/event/secrets.js'
import type { RoutedContext } from './koa.js'
import { requestPath } from './request-path.js'

export interface RequestDataOptions {
  /** What is secret beside what is by default: passwords, tokens, cookies, keys of access … */
  readonly redact?: RedactOptions
  /**
   * Bytes of JSON text of a request's body that its event keeps, at least 0. Of a longer body long
   * texts are cut and members left out, and `request_body_cut` is true.
   * @default 65536
   */
  readonly maxBodyBytes?: number
}

export type Data = Readonly<Record<string, unknown>>

/** What is known of a request before it is handled. */
export interface Arrival {
  /** By `performance.now()`. */
  readonly time: number
  readonly address: string
}

export interface RequestData {
  /** What a request's event tells of it, answered with the status. */
  of(ctx: RoutedContext, arrival: Arrival, status: number): Data
  /** Data of the host's, without its secrets. */
  redacted(data: unknown): Data
}

const MAX_BODY_BYTES = 65_536
/** Far more than a log keeps of one event: what is beyond, the log cuts and tells. */
const MAX_DATA_BYTES = 4 << 20

/** Of a JSON:API request its attributes, else the body; only what a parser of the host's has read. */
function sentBody(ctx: RoutedContext): unknown {
  const { body } = ctx.request as { body?: unknown }
  try {
    const { data } = Object(body) as { data?: unknown }
    const { attributes } = Object(data) as { attributes?: unknown }
    return attributes ?? body
  } catch {
    return body
  }
}

/** Parsers give an empty object, or text, for a request without a body. */
const isEmpty = (copy: unknown): boolean =>
  copy !== null && Object.keys(Object(copy) as object).length === 0

const hasGone = ({ res }: RoutedContext): boolean => res.destroyed && !res.writableFinished

/** Throws `INVALID_OPTION` for options that cannot be meant. */
export function requestData(options: RequestDataOptions): RequestData {
  const { maxBodyBytes = MAX_BODY_BYTES } = options
  if (!Number.isSafeInteger(maxBodyBytes) || maxBodyBytes < 0)
    throw new AuditLogError('INVALID_OPTION', 'maxBodyBytes must be a whole number of at least 0')
  const isSecret: IsSecret = secretsOf(options.redact)

  const body = (ctx: RoutedContext): Data => {
    const { copy, isCut } = redactWithin(sentBody(ctx), ['request_body'], isSecret, maxBodyBytes)
    return {
      ...(!isEmpty(copy) && { request_body: copy }),
      ...(isCut && { request_body_cut: true }),
    }
  }

  const redactedAt = (path: readonly string[], value: unknown): object =>
    Object(redactWithin(value, path, isSecret, MAX_DATA_BYTES).copy) as object

  return {
    of(ctx, { time, address }, status) {
      const params = redactedAt(['url_params'], ctx.params ?? {})
      return {
        request_method: ctx.method,
        request_path: requestPath(ctx, isSecret),
        ...body(ctx),
        ...(Object.keys(params).length > 0 && { url_params: params }),
        response_status: status,
        duration_ms: Math.round((performance.now() - time) * 1000) / 1000,
        ...(address !== '' && { remote_address: address }),
        ...parseTraceparent(ctx.get('traceparent')),
        ...(hasGone(ctx) && { aborted: true }),
      }
    },
    redacted: (data) => redactedAt([], data) as Data,
  }
}
