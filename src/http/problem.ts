import { AuditLogError, type AuditLogErrorCode, errorCodes } from '../errors.js'
import type { HttpResponse } from './exchange.js'
import { thrownError } from './thrown-error.js'

export const JSON_API = 'application/vnd.api+json'

/** The top-level `jsonapi` member of all documents. */
export const jsonapi = { version: '1.1' }

/** HTTP statuses of core errors. A new code does not compile until it is listed here. */
const STATUSES: Readonly<Record<AuditLogErrorCode, number>> = {
  ABORTED: 503,
  CLOSED: 503,
  DAMAGED: 500,
  DEADLINE_EXCEEDED: 503,
  HELD: 409,
  IDEMPOTENCY_CONFLICT: 422,
  IMPORT_CONFLICT: 409,
  INTENT_ENDED: 409,
  INVALID_DATA: 422,
  INVALID_EVENT: 422,
  INVALID_LINK: 422,
  INVALID_OPTION: 500,
  INVALID_VALUE: 400,
  KEYS_UNAVAILABLE: 503,
  LEDGER_DIVERGED: 503,
  LIVE_CLOSED: 409,
  MALFORMED_PARAMETER: 400,
  MALFORMED_PROOF: 400,
  MISSING_DEPENDENCY: 500,
  NOT_COVERED: 500,
  NOT_PROVED: 422,
  NOT_REACHED: 412,
  NOT_REVERTIBLE: 422,
  NOT_SEALED: 503,
  CHANNEL_UNAVAILABLE: 409,
  DEFINED_IN_CODE: 409,
  IN_USE: 409,
  INVALID_CHANNEL: 422,
  INVALID_SUBSCRIPTION: 422,
  INVALID_VIEW: 422,
  NAME_TAKEN: 409,
  NO_LEDGER: 404,
  NO_SECRETS_KEY: 422,
  UNKNOWN_CHANNEL: 404,
  UNKNOWN_SUBSCRIPTION: 404,
  UNKNOWN_VIEW: 404,
  OUTCOME_UNKNOWN: 503,
  QUERY_TIMEOUT: 503,
  QUERY_TOO_LARGE: 400,
  QUEUE_FULL: 503,
  READ_ONLY: 403,
  SEALED_ATTRIBUTE: 400,
  SCHEMA_MISMATCH: 503,
  SIGNER_REQUIRED: 409,
  STORE_FAILED: 503,
  UNKNOWN_ATTRIBUTE: 400,
  UNKNOWN_EVENT_TYPE: 422,
  UNKNOWN_LOG: 404,
  UNKNOWN_PARAMETER: 400,
  UNKNOWN_PREDICATE: 400,
}

/** The HTTP status of a core error. */
export function statusOf(code: AuditLogErrorCode): number {
  return STATUSES[code]
}

/** Errors that only HTTP has: code, status and title. */
export const problems = {
  INVALID_HEADER: { status: 400, title: 'a request header is invalid' },
  MALFORMED_DOCUMENT: { status: 400, title: 'the body is not a JSON:API document' },
  UNAUTHENTICATED: { status: 401, title: 'authentication is required' },
  CLIENT_ID: { status: 403, title: 'the server assigns ids' },
  FORBIDDEN: { status: 403, title: 'the user is not allowed to do this' },
  NOT_FOUND: { status: 404, title: 'the resource does not exist' },
  METHOD_NOT_ALLOWED: { status: 405, title: 'the resource does not support this method' },
  NOT_ACCEPTABLE: { status: 406, title: 'the resource is not available in an accepted format' },
  WRONG_RESOURCE_TYPE: { status: 409, title: 'the collection does not hold this resource type' },
  WRONG_RESOURCE_ID: { status: 409, title: 'the id in the body is not the one in the path' },
  BODY_TOO_LARGE: { status: 413, title: 'the body is too large' },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    title: 'the body has a media type that the resource does not take',
  },
  TOO_MANY_EVENTS: { status: 422, title: 'more events match than the response may contain' },
  TOO_MANY_TRIES: { status: 429, title: 'too many failed login attempts' },
  FORMAT_UNAVAILABLE: { status: 501, title: 'the service cannot write this format' },
  INTERNAL_ERROR: { status: 500, title: 'the service failed' },
} as const satisfies Record<string, { status: number; title: string }>

export type ProblemCode = keyof typeof problems

export interface ProblemDetails {
  readonly pointer?: string
  readonly parameter?: string
  /** The name of the invalid request header. */
  readonly header?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Figures of the problem, for programs. */
  readonly meta?: Readonly<Record<string, number | boolean>>
}

/** Thrown inside the endpoints and returned to the client as a JSON:API error. */
export class HttpProblem extends Error {
  readonly code: ProblemCode
  readonly details: ProblemDetails

  constructor(code: ProblemCode, detail: string, details: ProblemDetails = {}) {
    super(detail)
    this.code = code
    this.details = details
  }
}

/** JSON:API 1.1, "Error Objects". */
type ErrorSource =
  | { readonly parameter: string }
  | { readonly pointer: string }
  | { readonly header: string }

function sourceOf({ parameter, pointer, header }: ErrorPlace): ErrorSource | undefined {
  if (parameter !== undefined) return { parameter }
  if (pointer !== undefined) return { pointer }
  return header === undefined ? undefined : { header }
}

/** The invalid part of a request; at most one member is set. */
interface ErrorPlace {
  readonly parameter?: string | undefined
  readonly pointer?: string | undefined
  readonly header?: string | undefined
}

interface Failure {
  readonly status: number
  readonly code: string
  readonly title: string
  readonly detail: string
}

type ProblemParts = { readonly [Part in 'headers' | 'meta']?: ProblemDetails[Part] | undefined }

function respond(
  { status, ...failure }: Failure,
  place: ErrorPlace,
  { headers, meta }: ProblemParts = {},
): HttpResponse {
  const source = sourceOf(place)
  const error = {
    status: String(status),
    ...failure,
    ...(source && { source }),
    ...(meta && { meta }),
  }
  return {
    status,
    headers: { 'content-type': JSON_API, 'cache-control': 'no-store', ...headers },
    body: JSON.stringify({ jsonapi, errors: [error] }),
  }
}

/** Places of errors that the core reports without one. */
const PLACES: Readonly<Partial<Record<AuditLogErrorCode, ErrorPlace>>> = {
  IDEMPOTENCY_CONFLICT: { header: 'idempotency-key' },
  NOT_REACHED: { header: 'consistency-token' },
}

/** Headers of errors that the core reports. The ledger is sealed once a second. */
const HEADERS: Readonly<Partial<Record<AuditLogErrorCode, ProblemDetails['headers']>>> = {
  NOT_SEALED: { 'retry-after': '1' },
}

/** The JSON:API response for an {@link HttpProblem}. */
export function problemResponse(problem: HttpProblem): HttpResponse {
  const { status, title } = problems[problem.code]
  const { details, code, message: detail } = problem
  return respond({ status, code, title, detail }, details, details)
}

/** The JSON:API response for a thrown `HttpProblem` or `AuditLogError`; anything else is rethrown as an error. */
export function errorResponse(thrown: unknown): HttpResponse {
  const error = thrownError(thrown)
  if (error instanceof HttpProblem) return problemResponse(error)
  if (!(error instanceof AuditLogError)) throw error
  const { code } = error
  const status = statusOf(code)
  const title = errorCodes[code]
  // Clients do not see the details of internal errors.
  const detail = status >= 500 ? title : error.message
  return respond({ status, code, title, detail }, PLACES[code] ?? error, { headers: HEADERS[code] })
}
