import { AuditLogError } from '../../errors.js'
import { redactWithin } from '../../event/redact.js'
import {
  type IsSecret,
  REDACT_OPTIONS,
  type RedactOptions,
  secretsOf,
} from '../../event/secrets.js'
import type { TraceIds } from '../../recording/actor.js'
import type { RecordedExchange } from './exchange.js'
import { requestFiles } from './request-files.js'
import { requestPath } from './request-path.js'
import { checkOptions, type OptionNames } from '../../options.js'

export interface RequestDataOptions {
  /** Secrets in addition to the default ones: passwords, tokens, cookies, access keys … */
  readonly redact?: RedactOptions
  /**
   * Maximum length of the request body in its event, in bytes of JSON text, at least 0. In a longer body
   * long texts are cut and members omitted, and `request_body_cut` is true.
   * @default 65536
   */
  readonly maxBodyBytes?: number
}

export const REQUEST_DATA_OPTIONS: OptionNames<RequestDataOptions> = {
  redact: true,
  maxBodyBytes: true,
}

export type Data = Readonly<Record<string, unknown>>

/** Facts about a request that are read when it arrives. */
export interface Arrival {
  /** By `performance.now()`. */
  readonly time: number
  readonly address: string
  /** The active OpenTelemetry span, or else the span of the caller. */
  readonly trace: TraceIds | undefined
}

export interface RequestDataReader {
  /** The data of a request that is not handled yet. */
  arrived(exchange: RecordedExchange<unknown>, arrival: Arrival): Data
  /** The data of a request's event; `status` is the status of the response. */
  of(exchange: RecordedExchange<unknown>, arrival: Arrival, status: number): Data
  /** Data of the host with its secrets redacted. */
  readonly redacted: (data: unknown) => Data
  readonly isSecret: IsSecret
}

const MAX_BODY_BYTES = 65_536
/** Bytes of JSON text. */
const MAX_USER_AGENT_BYTES = 512
/** Far above the size limit of an event: the log itself cuts larger data and records that. */
const MAX_DATA_BYTES = 4 << 20

/** The attributes of a JSON:API request, else the body; only if a body parser of the host has read it. */
function sentBody({ body }: RecordedExchange<unknown>): unknown {
  try {
    const { data } = Object(body) as { data?: unknown }
    const { attributes } = Object(data) as { attributes?: unknown }
    return attributes ?? body
  } catch {
    return body
  }
}

/** Body parsers set an empty object or an empty string for a request without a body. */
const isEmpty = (copy: unknown): boolean =>
  copy !== null && Object.keys(Object(copy) as object).length === 0

/** Throws `INVALID_OPTION` for invalid options. */
export function requestData(options: RequestDataOptions): RequestDataReader {
  const { maxBodyBytes = MAX_BODY_BYTES } = options
  if (!Number.isSafeInteger(maxBodyBytes) || maxBodyBytes < 0)
    throw new AuditLogError('INVALID_OPTION', 'maxBodyBytes must be a whole number of at least 0')
  checkOptions(options.redact, REDACT_OPTIONS, 'redact')
  const isSecret: IsSecret = secretsOf(options.redact)

  const body = (exchange: RecordedExchange<unknown>): Data => {
    const { copy, isCut } = redactWithin(
      sentBody(exchange),
      ['request_body'],
      isSecret,
      maxBodyBytes,
    )
    return {
      ...(!isEmpty(copy) && { request_body: copy }),
      ...(isCut && { request_body_cut: true }),
    }
  }

  const files = ({ files: given }: RecordedExchange<unknown>): Data => {
    const found = requestFiles(given)
    if (found.length === 0) return {}
    return { request_files: redactWithin(found, ['request_files'], isSecret, MAX_DATA_BYTES).copy }
  }

  const redactedAt = (path: readonly string[], value: unknown): object =>
    Object(redactWithin(value, path, isSecret, MAX_DATA_BYTES).copy) as object

  /** Redacted before it is cut. */
  const userAgent = (exchange: RecordedExchange<unknown>): Data => {
    const sent = exchange.header('user-agent')
    if (sent === '') return {}
    return {
      user_agent: redactWithin(sent, ['user_agent'], isSecret, MAX_USER_AGENT_BYTES).copy,
    }
  }

  const arrived = (exchange: RecordedExchange<unknown>, { address, trace }: Arrival): Data => ({
    request_method: exchange.method,
    request_path: requestPath(exchange, isSecret),
    ...(address !== '' && { remote_address: address }),
    ...userAgent(exchange),
    ...trace,
  })

  return {
    isSecret,
    arrived,
    of(exchange, arrival, status) {
      const params = redactedAt(['url_params'], exchange.params)
      const { request_method, request_path, ...origin } = arrived(exchange, arrival)
      return {
        request_method,
        request_path,
        ...body(exchange),
        ...files(exchange),
        ...(Object.keys(params).length > 0 && { url_params: params }),
        response_status: status,
        duration_ms: Math.round((performance.now() - arrival.time) * 1000) / 1000,
        ...origin,
        ...(exchange.isAborted && { aborted: true }),
      }
    },
    redacted: (data) => redactedAt([], data) as Data,
  }
}
